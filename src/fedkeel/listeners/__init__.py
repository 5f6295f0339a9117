"""What happens around a round: each listener optional, none known to the loop."""

"""The published methods, one file each, named as the paper is."""

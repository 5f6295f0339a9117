"""What publishers say of their files: addresses and checksums; and what was found in them."""

from __future__ import annotations

from collections.abc import Mapping

from .arrival import Remote

_IDX = (
    "train-images-idx3-ubyte.gz",
    "train-labels-idx1-ubyte.gz",
    "t10k-images-idx3-ubyte.gz",
    "t10k-labels-idx1-ubyte.gz",
)


def _files(address: str, md5: Mapping[str, str]) -> tuple[Remote, ...]:
    return tuple(Remote(address + name, name, checksum) for name, checksum in md5.items())


def _one(address: str, md5: str, size: int) -> tuple[Remote, ...]:
    return (Remote(address, address.rpartition("/")[2], md5, size=size),)


_EMNIST = _one(
    "https://biometrics.nist.gov/cs_links/EMNIST/gzip.zip",
    "58c8d27c78d21e728a6bc7b3cc06412e",
    561_753_746,
)

FILES: dict[str, tuple[Remote, ...]] = {
    "mnist": _files(
        "https://ossci-datasets.s3.amazonaws.com/mnist/",
        {
            _IDX[0]: "f68b3c2dcbeaaa9fbdd348bbdeb94873",
            _IDX[1]: "d53e105ee54ea40749a09fcbcd1e9432",
            _IDX[2]: "9fb629c4189551a2d022fa330f9573f3",
            _IDX[3]: "ec29112dd5afa0611ce80d1b7f02629c",
        },
    ),
    "fmnist": _files(
        "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
        {
            _IDX[0]: "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
            _IDX[1]: "25c81989df183df01b3e8a0aad5dffbe",
            _IDX[2]: "bef4ecab320f06d8554ea6380940ec79",
            _IDX[3]: "bb300cfdad3c16e7a12a480ee83cd310",
        },
    ),
    "emnist-byclass": _EMNIST,
    "emnist-digits": _EMNIST,
    "emnist-letters": _EMNIST,
    "cifar10": _one(
        "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz",
        "c58f30108f718f92721af3b95e74349a",
        170_498_071,
    ),
    "cifar100": _one(
        "https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz",
        "eb9058c3a382ffc7106e4002c42a8d85",
        169_001_437,
    ),
    "tinyimagenet": _one(
        "http://cs231n.stanford.edu/tiny-imagenet-200.zip",
        "90528d7ca1a48142e341f4ef8d21d0de",
        248_100_043,
    ),
    "flowers102": _files(
        "https://www.robots.ox.ac.uk/~vgg/data/flowers/102/",
        {
            "102flowers.tgz": "52808999861908f626f3c1f4e79d11fa",
            "imagelabels.mat": "e0620be6f572b9609742df49c70aed4d",
            "setid.mat": "a5357ecc9cb78c4bef273ce3793fc85c",
        },
    ),
}
"""The official files of each data set that anybody may fetch."""

DIGESTS: dict[str, dict[str, str]] = {
    "mnist": {
        "x_train": "741c988805d008ac6e4c904b69001ba184c24b2c540a4ef403f4c71b676cf757",
        "y_train": "e474323ac02fc156161b0bbb1f8c9cfeb327a74bcd9f9680a8385269a24f566c",
        "x_test": "6d87418db22cc8025d05968bec9bd5c3932904b23485740db143a061a2c9d161",
        "y_test": "2fd8de6bdb8d11780b4b96dc57847bcfe6953f7c32aa48bfcd8237c3b7847243",
    },
    "fmnist": {
        "x_train": "2e487a6c89124f78f2d7521542223cafe96f7123c3ca13d447772ac6ecbb3012",
        "y_train": "e3245b63f7c40d1c8b652835f19744d970c1613b40ddac6bcfc87b9c46e16a0b",
        "x_test": "c867c93ff95360594e8ec3287995350b824dd110b11595c0e13d5423f621867a",
        "y_test": "d51d859896c55775b9e9e219b77ff03bcec1b6ac322f313544dc3f9e7bc94fae",
    },
    "cifar10": {
        "x_train": "9d5c2eddadb0deff02c14c350c0385aab7b1d5ff1edfeb4997c8dc8644960111",
        "y_train": "f5cfe00b0f00968c0cc5ff3b1d2de51b10e33efa277c2986f4e0fa63e58c9f4f",
        "x_test": "177777c33ba79825320efa646ad04a94bdc3c80e4ebe3bd21724f8cdfd4b9d56",
        "y_test": "cbb7365de8ed11f05cc4c3a1e7f78144127c5e851efd83762fb18202461230bb",
    },
    "cifar100": {
        "x_train": "de64658905c6b161606e3649ddafce7cf86c7634a0cf9116d518e64ef46a33c5",
        "y_train": "8bf4935e7c77a3096270043c6f3b221b6ecb9c63d1a08608e9af66cff17e977a",
        "coarse_train": "9f99c2cdae93cf09da2fc6497c96ab042c6dc02c456a2e86dcffd2305df5a2e9",
        "x_test": "83c56492b2c11211ad1bb2dbd4f2eef4170a0441e41a41f3039c3144b1f5a511",
        "y_test": "80031c23f8300724c6fbc588e4bccbe41c6392041782148727bb497b0132c4ad",
        "coarse_test": "e2f01c218d5f70ed60e3d80cb12337f835005bcae62b64fefcaa2b647612af83",
    },
}
"""The SHA-256 of arrays: images ``(n, C, H, W)`` uint8, labels int64 little-endian, row by row."""

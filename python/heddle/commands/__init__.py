"""The commands `heddle study`, `heddle plot` and `heddle fetch`: what stands above the rooms that they
use."""

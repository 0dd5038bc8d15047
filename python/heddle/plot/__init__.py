"""Pictures of single results: `heddle plot`."""

"""What every package uses: units, files, paths, tables. Nothing here knows about measuring."""

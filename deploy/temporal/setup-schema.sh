#!/bin/sh
# Creates Temporal's two databases and brings their schemas to the version of this image. Safe to run again: what is
# there stays, newer schema versions are added. Runs in the admin-tools image; SQL_* name the server and the user.
set -eu

# NAME SCHEMA: the schemas come with the tool.
setup() {
  temporal-sql-tool --database "$1" create-database
  temporal-sql-tool --database "$1" setup-schema --version 0.0
  temporal-sql-tool --database "$1" update-schema --schema-name "$2"
}

setup temporal postgresql/v12/temporal
setup temporal_visibility postgresql/v12/visibility
echo 'The schemas are up to date.'

#!/bin/sh
# Creates Temporal's two databases and upgrades their schemas to the version of this image. Idempotent. Runs in the
# admin-tools image, and reads the server and the user from SQL_*.
set -eu

# setup DATABASE SCHEMA: the tool contains the schemas.
setup() {
  temporal-sql-tool --database "$1" create-database
  temporal-sql-tool --database "$1" setup-schema --version 0.0
  temporal-sql-tool --database "$1" update-schema --schema-name "$2"
}

setup temporal postgresql/v12/temporal
setup temporal_visibility postgresql/v12/visibility
echo 'The schemas are up to date.'

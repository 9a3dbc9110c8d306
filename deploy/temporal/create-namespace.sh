#!/bin/sh
# Creates the namespace, or brings its retention up to date, and registers the search attributes. Safe to run again.
# Runs in the admin-tools image; TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE name the server and the namespace.
set -eu

# The list is that of src/domain/queues.ts, all of type Keyword; a test holds the two equal.
search_attributes='
MediaModel
MediaChannel
MediaAccount
MediaStatus
MediaFailure
UpstreamTaskId
NeedsAttention
'

# Closed workflows stay readable for this long: support, reconciliation and replay need them.
retention="${TEMPORAL_RETENTION:-168h}"

# TRIES COMMAND...: a server that has just started needs some seconds for its first namespaces.
retry() {
  tries="$1"
  shift
  until "$@"; do
    tries=$((tries - 1))
    if [ "$tries" -le 0 ]; then
      echo "gave up: $*" >&2
      exit 1
    fi
    sleep 2
  done
}

put_namespace() {
  if temporal operator namespace describe --namespace "$TEMPORAL_NAMESPACE" >/dev/null 2>&1; then
    temporal operator namespace update --namespace "$TEMPORAL_NAMESPACE" --retention "$retention"
  else
    temporal operator namespace create --namespace "$TEMPORAL_NAMESPACE" --retention "$retention" \
      --description 'Mediary: one workflow per generation task'
  fi
}

# The first column of the listing is the name.
list_search_attributes() {
  temporal operator search-attribute list --namespace "$TEMPORAL_NAMESPACE" >/tmp/search-attributes
}

is_registered() {
  awk -v name="$1" '$1 == name { found = 1 } END { exit !found }' /tmp/search-attributes
}

retry 60 temporal operator cluster health
retry 10 put_namespace
# A namespace that was just created is not known to every part of the server at once.
retry 30 list_search_attributes
for name in $search_attributes; do
  is_registered "$name" || retry 10 temporal operator search-attribute create \
    --namespace "$TEMPORAL_NAMESPACE" --name "$name" --type Keyword
done
list_search_attributes
for name in $search_attributes; do
  is_registered "$name" || { echo "search attribute $name is missing" >&2; exit 1; }
done
echo "Namespace $TEMPORAL_NAMESPACE is ready: retention $retention, all search attributes registered."

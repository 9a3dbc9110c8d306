import type { Environment } from '../config/environment.ts';

/** Followed by a workflow's id: its page in the Temporal UI. Undefined: nobody says where the UI is. */
export function workflowsUrlOf({
  TEMPORAL_UI_URL: url,
  TEMPORAL_NAMESPACE: namespace,
}: Pick<Environment, 'TEMPORAL_UI_URL' | 'TEMPORAL_NAMESPACE'>): string | undefined {
  return url === undefined ? undefined : `${url}/namespaces/${encodeURIComponent(namespace)}/workflows/`;
}

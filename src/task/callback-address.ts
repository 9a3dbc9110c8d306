/** The token in the address must stay secret. `publicUrl` has no trailing slash. */
export function callbackAddress(publicUrl: string, task: string, token: string): string {
  return `${publicUrl}/callbacks/upstream/${task}/${token}`;
}

/**
 * Hides the token in an upstream's response that repeats the address. Anyone who knows the token can trigger the task's
 * next poll early.
 */
export function withoutCallbackToken(text: string): string {
  return text.replace(/(\/callbacks\/upstream\/[^/\s]+\/)[^/\s?#"']+/g, '$1[key]');
}

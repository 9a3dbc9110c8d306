/** The token in the address must stay secret. `publicUrl` has no trailing slash. */
export function callbackAddress(publicUrl: string, task: string, token: string): string {
  return `${publicUrl}/callbacks/upstream/${task}/${token}`;
}

/**
 * Hides the token if an upstream's response repeats the address. Anyone who knows the token can make the task's next
 * poll happen early.
 */
export function withoutCallbackToken(text: string): string {
  return text.replace(/(\/callbacks\/upstream\/[^/\s]+\/)[^/\s?#"']+/g, '$1[key]');
}

/**
 * Returns the address to which the upstream sends its callbacks for this task. The token must stay secret. `publicUrl`
 * has no trailing slash.
 */
export function callbackAddress(publicUrl: string, task: string, token: string): string {
  return `${publicUrl}/callbacks/upstream/${task}/${token}`;
}

/**
 * Removes the callback token. An upstream may echo the address in its responses, and anyone with the token can trigger
 * the task's next poll early.
 */
export function withoutCallbackToken(text: string): string {
  return text.replace(/(\/callbacks\/upstream\/[^/\s]+\/)[^/\s?#"']+/g, '$1[key]');
}

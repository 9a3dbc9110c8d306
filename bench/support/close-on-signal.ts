const signals = ['SIGINT', 'SIGTERM'] as const;

/** Ends with `close` when somebody ends this process. One Ctrl-C may arrive twice, relayed by npm: it ends once. */
export function closeOnSignal(close: () => Promise<void>): void {
  let ending: Promise<void> | undefined;
  const onSignal = (): void => {
    ending ??= close().finally(() => process.exit(1));
  };
  for (const signal of signals) process.on(signal, onSignal);
}

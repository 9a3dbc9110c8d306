/**
 * As the work; rejects with what `late` makes if it takes longer than `ms`. The work itself is not stopped: its calls
 * have deadlines of their own.
 */
export async function within<Result>(
  ms: number,
  work: () => Promise<Result>,
  late: () => Error,
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(late()), ms);
  });
  try {
    return await Promise.race([work(), expired]);
  } finally {
    clearTimeout(timer);
  }
}

import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { z } from 'zod';

export interface Helper {
  order<Answer>(schema: z.ZodType<Answer>, message: object): Promise<Answer>;
  end(): void;
}

export function startHelper(program: URL): Helper {
  const child = fork(program, { execArgv: ['--import', 'tsx'] });
  const exited = once(child, 'exit').then(() => {
    throw new Error(`${program.pathname} has ended`);
  });
  exited.catch(() => undefined);
  return {
    async order(schema, message) {
      const answered = once(child, 'message').then(([answer]: unknown[]) => answer);
      child.send(message);
      return schema.parse(await Promise.race([answered, exited]));
    },
    end: () => void child.kill('SIGKILL'),
  };
}

export function serve<Order>(schema: z.ZodType<Order>, carryOut: (order: Order) => Promise<object>): void {
  process.on('disconnect', () => process.exit());
  process.on('message', (message) => {
    void carryOut(schema.parse(message)).then((answer) => process.send?.(answer));
  });
}

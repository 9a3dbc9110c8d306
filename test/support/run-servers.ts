import { inject } from 'vitest';
import { markServerUse } from './server-use.ts';

export function temporalAddress(): string {
  return provided('temporalAddress');
}

export function mongodbUri(): string {
  return provided('mongodbUri');
}

export function databaseUri(name: string): string {
  const uri = new URL(mongodbUri());
  uri.pathname = `/${name}`;
  return uri.toString();
}

function provided(name: 'temporalAddress' | 'mongodbUri'): string {
  markServerUse();
  const value: string | undefined = inject(name);
  if (value === undefined)
    throw new Error(
      'this test file runs in the project "pure", which starts no servers: ' +
        'import test/support/run-servers.ts by its path, so that the file is assigned to "servers"',
    );
  return value;
}

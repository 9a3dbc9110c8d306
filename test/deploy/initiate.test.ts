import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { readRepositoryFile } from './compose-file.ts';

const script = readRepositoryFile('deploy/mongodb/initiate.mongodb');

interface User {
  readonly pwd: string;
  readonly roles: readonly { readonly role: string; readonly db: string }[];
}

/** Becomes primary only two requests after it has been initiated, because real servers also need some time. */
class StandInServer {
  initiated: unknown;
  readonly users = new Map<string, User>();
  readonly log: string[] = [];
  rootPassword = 'root-password';
  electable = true;
  private asked = 0;

  run(password = 'password'): void {
    const admin = {
      auth: (user: string, given: string) => {
        if (user !== 'root' || given !== this.rootPassword) throw new Error('Authentication failed.');
      },
      adminCommand: (command: { replSetInitiate?: unknown; replSetGetStatus?: number }) => {
        if (command.replSetInitiate !== undefined) {
          if (this.initiated !== undefined) throw new Error('already initialized');
          this.initiated = command.replSetInitiate;
          return { ok: 1 };
        }
        if (this.initiated !== undefined) return { ok: 1 };
        throw Object.assign(new Error('no replset config has been received'), { code: 94 });
      },
      hello: () => ({
        isWritablePrimary: this.electable && this.initiated !== undefined && (this.asked += 1) > 2,
      }),
      getSiblingDB: (name: string) => ({
        getUser: (user: string) => this.users.get(`${name}.${user}`) ?? null,
        createUser: ({ user, ...rest }: User & { user: string }) => {
          if (this.users.has(`${name}.${user}`)) throw new Error('exists');
          this.users.set(`${name}.${user}`, rest);
        },
        updateUser: (user: string, rest: User) => this.users.set(`${name}.${user}`, rest),
      }),
    };
    runInNewContext(script, {
      process: {
        env: {
          MONGODB_HOST: 'mongodb:27017',
          MONGODB_ROOT_PASSWORD: 'root-password',
          MONGODB_USER: 'mediary',
          MONGODB_PASSWORD: password,
        },
      },
      connect: (uri: string) => {
        this.log.push(uri);
        return admin;
      },
      print: (line: string) => this.log.push(line),
      sleep: () => undefined,
    });
  }
}

describe('mongodb-init', () => {
  it('initiates a new server under its own name and creates the gateway’s user', () => {
    const server = new StandInServer();
    server.run();
    expect(server.initiated).toEqual({ _id: 'rs0', members: [{ _id: 0, host: 'mongodb:27017' }] });
    expect(server.users.get('mediary.mediary')).toEqual({
      pwd: 'password',
      roles: [{ role: 'readWrite', db: 'mediary' }],
    });
    expect(server.log[0]).toBe('mongodb://mongodb:27017/admin?directConnection=true');
    expect(server.log.join(' ')).not.toContain('password');
  });

  it('leaves an existing set as it is, however many members it has', () => {
    const server = new StandInServer();
    server.initiated = { _id: 'rs0', members: [{}, {}, {}] };
    server.run();
    expect(server.initiated).toEqual({ _id: 'rs0', members: [{}, {}, {}] });
  });

  it('takes over a password that changed', () => {
    const server = new StandInServer();
    server.run('old');
    server.run('new');
    expect(server.users.size).toBe(1);
    expect(server.users.get('mediary.mediary')?.pwd).toBe('new');
  });

  it('fails, to be retried, when the password of root is wrong or no primary appears', () => {
    const locked = new StandInServer();
    locked.rootPassword = 'another';
    expect(() => locked.run()).toThrow('Authentication failed.');
    const alone = new StandInServer();
    alone.electable = false;
    expect(() => alone.run()).toThrow('mongodb:27017 is not the primary of rs0');
    expect(alone.users.size).toBe(0);
  });
});

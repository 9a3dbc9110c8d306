import type { Mutant } from './mutant.ts';

/** What keeps one caller from taking the service from others. */

const turns = 'src/http/answer-in-turn.ts';
const consume = 'src/http/bodies/consume-body.ts';
const budget = 'src/http/bodies/body-budget.ts';
const guesses = 'src/http/guess-limit.ts';
const hostile = ['test/http/hostile-callers.test.ts'];
const turn = ['test/http/answer-in-turn.test.ts'];
const limits = ['test/http/address-limit.test.ts'];

export const callerMutants: readonly Mutant[] = [
  {
    name: 'callers-one-at-a-time',
    breaks: 'A connection has one request at a time.',
    file: turns,
    find: 'if (!response.closed) return false;',
    replace: '',
    tests: hostile,
  },
  {
    name: 'callers-body-unread',
    breaks: 'A body is not parsed before somebody reads it.',
    file: turns,
    find: 'return request.readableFlowing === true;',
    replace: 'return true;',
    tests: turn,
  },
  {
    name: 'callers-seam',
    breaks: 'Headers whose end lies across two packets end there.',
    file: turns,
    find: 'const isAcross = across !== -1;',
    replace: 'const isAcross = false;',
    tests: turn,
  },
  {
    name: 'callers-cut-largest',
    breaks: 'The connection that holds back most is cut, and no other.',
    file: turns,
    find: 'if (each.heldBytes > (largest?.heldBytes ?? 0) && !each.isReady()) largest = each;',
    replace: 'largest = each;',
    tests: hostile,
  },
  {
    name: 'callers-slice',
    breaks: 'However many connections send at once, the event loop turns between them.',
    file: turns,
    find: 'this.slice.run(this.pump);',
    replace: 'this.pump();',
    tests: hostile,
  },
  {
    name: 'callers-pieces',
    breaks: 'A body in tiny pieces is refused.',
    file: consume,
    find: 'if (pieces > freePieces + bytes / pieceBytesMin) throw tooManyPieces();',
    replace: '',
    tests: hostile,
  },
  {
    name: 'callers-make-room',
    breaks: 'Who holds most makes room for a newcomer.',
    file: budget,
    find: 'while (total + bytes > bytesMax) if (!makeRoom(held)) throw processExceeded();',
    replace: 'if (total + bytes > bytesMax) throw processExceeded();',
    tests: hostile,
  },
  {
    name: 'callers-account-share',
    breaks: 'One account has a share of the memory for bodies.',
    file: budget,
    find: 'if (held > accountBytesMax) throw accountExceeded(accountBytesMax);',
    replace: '',
    tests: hostile,
  },
  {
    name: 'callers-admit-first',
    breaks: 'A secret address is checked before the body is read.',
    file: 'src/http/app.ts',
    find: 'const admitted = await route.admit?.(requestOf(context));',
    replace:
      'await readBody.read(context, { memory: budgets.memory.json.open(""), disk: budgets.disk.open(""), bytesPerSecondMin });\n    const admitted = await route.admit?.(requestOf(context));',
    tests: hostile,
  },
  {
    name: 'callers-close-chunked',
    breaks: 'A refused body in chunks is not read to its end.',
    file: 'src/http/request-scope.ts',
    find: "context.set('connection', 'close');\n  } else",
    replace: '}',
    tests: hostile,
  },
  {
    name: 'callers-bucket',
    breaks: 'Requests without a key share a bucket for each address.',
    file: 'src/http/request-scope.ts',
    find: "if (!isProbe(path ?? '')) deps.addresses.take(context.state.address);",
    replace: '',
    tests: limits,
  },
  {
    name: 'callers-give-back',
    breaks: 'Whoever shows a key is not limited by address.',
    file: 'src/http/identify.ts',
    find: "addresses.giveBack(address);\n      return { kind: 'key', caller };",
    replace: "return { kind: 'key', caller };",
    tests: limits,
  },
  {
    name: 'callers-lock-out',
    breaks: 'An address that guesses operators’ tokens is locked out.',
    file: guesses,
    find: 'guesses.lockedUntil = now() + lockedMs;',
    replace: '',
    tests: limits,
  },
  {
    name: 'callers-lock-longer',
    breaks: 'Each lock-out is twice as long.',
    file: guesses,
    find: 'guesses.lockouts += 1;',
    replace: '',
    tests: limits,
  },
  {
    name: 'callers-guesses-at-once',
    breaks: 'Guesses that are sent at once are counted, too.',
    file: guesses,
    find: 'if (guesses.open >= openMaxNow) throw lockedOut(1_000);',
    replace: '',
    tests: limits,
  },
  {
    name: 'callers-utf8',
    breaks: 'What is not UTF-8 is refused.',
    file: 'src/http/body.ts',
    find: "if (isUtf8(bytes)) return bytes.toString('utf8');\n  throw notUtf8();",
    replace: "return bytes.toString('utf8');",
    tests: ['test/http/protocol.test.ts'],
  },
];

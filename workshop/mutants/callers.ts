import type { Mutant } from './mutant.ts';

/** What keeps one caller from taking the service from others. */

const turns = 'src/http/answer-in-turn.ts';
const consume = 'src/http/bodies/consume-body.ts';
const places = 'src/base/places.ts';
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
    breaks: 'The holder that has most makes room for a newcomer.',
    file: places,
    find: '      place.evict();',
    replace: "      return 'full';",
    tests: hostile,
  },
  {
    name: 'callers-account-share',
    breaks: 'One holder has at most its share of what is shared.',
    file: places,
    find: 'return size + more > (this.options.shareMax ?? Infinity);',
    replace: 'return false;',
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
    breaks: 'Requests without a credential share a bucket for each address.',
    file: 'src/http/app.ts',
    find: 'else addresses.take(address);',
    replace: '',
    tests: limits,
  },
  {
    name: 'callers-give-back',
    breaks: 'A valid credential is not limited by what others at its address have done.',
    file: 'src/http/identify.ts',
    find: 'if (found !== undefined) return found;',
    replace: 'addresses.take(address); if (found !== undefined) return found;',
    tests: limits,
  },
  {
    name: 'callers-wrong-ones',
    breaks: 'A wrong key or token costs its address more than a request without one.',
    file: 'src/http/address-limit.ts',
    find: 'spend(address, wrongCost);',
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

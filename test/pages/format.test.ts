import { describe, expect, it } from 'vitest';
import {
  beside,
  counted,
  dateTime,
  money,
  movement,
  outgoing,
  relative,
  roundMoney,
  shortAmounts,
  span,
  sumMoney,
  words,
} from '../../src/pages/shared/format.js';
import { statusMessages } from '../../src/task/task.ts';
import { entryKinds, formatMovement, movementOf } from '../../src/money/movement.ts';
import { sourceOf } from '../../src/pages/shared/source.js';
import type { GuardedRequestError } from '../../src/http-client/index.ts';
import { answerOf } from '../../src/pages/shared/delivery.js';
import { withQuery } from '../../src/pages/shared/query.js';

describe('money', () => {
  it.each([
    ['0.5', '0.50'],
    ['0.762300', '0.7623'],
    ['1234567.000000', '1,234,567.00'],
    ['-12.345', '−12.345'],
    ['9007199254740993.000001', '9,007,199,254,740,993.000001'],
    ['7', '7.00'],
    [null, '–'],
    ['<b>', '<b>'],
  ])('%s is written as %s', (amount, written) => expect(money(amount)).toBe(written));
});

it.each([
  ['93.882392', '93.88'],
  ['-3.995000', '−4.00'],
  ['1999.999999', '2,000.00'],
  ['0.762300', '0.7623'],
  ['7', '7.00'],
  ['', '–'],
  [null, '–'],
])('in a heading, %s is written as %s', (amount, written) => expect(roundMoney(amount)).toBe(written));

it.each([
  ['0.500000', '+0.50'],
  ['-0.762300', '−0.7623'],
  ['0.000000', '0.00'],
  [null, '–'],
  ['<b>', '<b>'],
])('the movement %s is written as %s', (amount, written) => expect(movement(amount)).toBe(written));

it.each(entryKinds)('%s has the same sign in a sentence as in the ledger', (kind) => {
  const amount = formatMovement(movementOf({ kind, amount: 500_000n }));
  const shown = movement(amount.replace('+', ''));
  expect(shown).toMatch(/^[+−]0\.50$/);
  expect(shortAmounts(`${kind} ${amount} and 0.250000 beyond`)).toBe(`${kind} ${shown} and 0.25 beyond`);
});

it('a hyphen within a word or a range is not a sign', () => {
  expect(shortAmounts('job-0.500000 costs 0.100000-0.200000')).toBe('job-0.50 costs 0.10-0.20');
});

it('an outgoing amount has a minus sign unless it is zero', () => {
  expect([outgoing('0.500000'), outgoing('0.000000'), outgoing(null)]).toEqual(['−0.50', '0.00', '–']);
});

it('a sentence about a task is left out if it only repeats the state beside it', () => {
  const shown = Object.entries(statusMessages).map(([state, sentence]) => beside(state, sentence));
  expect(shown).toEqual([statusMessages.pending, '', statusMessages.running, '', '']);
  expect(beside('succeeded', 'The task succeeded, but the service could not store its result.')).not.toBe('');
});

it('adds money exactly', () => {
  expect(sumMoney(['0.1', '0.2', '9007199254740993.000001'])).toBe('9007199254740993.300001');
  expect([sumMoney([]), sumMoney(['-0.5', '0.25'])]).toEqual(['0.000000', '-0.250000']);
});

it.each([
  [0, '0 s'],
  [59.9, '59 s'],
  [60, '1 min'],
  [3600, '1 h'],
  [12_000, '3 h 20 min'],
  [187_200, '2 d 4 h'],
  [-5, '0 s'],
])('a span of %d seconds is written as %s', (seconds, written) => expect(span(seconds)).toBe(written));

it('formats a time relative to now', () => {
  expect([relative(1000, 1000), relative(940, 1000), relative(4600, 1000)]).toEqual([
    'now',
    '1 min ago',
    'in 1 h',
  ]);
});

it('formats times with their date', () =>
  expect(dateTime(1_732_287_383)).toMatch(/^2024-11-2[23] \d\d:\d\d:23$/));

it('writes names as words, and counts with their noun', () => {
  expect([
    words('submit_ambiguous'),
    counted(1, 'task'),
    counted(2500, 'task'),
    counted(2, 'process'),
  ]).toEqual(['submit ambiguous', '1 task', '2,500 tasks', '2 processes']);
});

it('adds only the given values to an address, and nothing that alters it', () => {
  expect(withQuery('/a', { b: undefined, c: '', d: 'x&y=1#?', e: 20 })).toBe('/a?d=x%26y%3D1%23%3F&e=20');
  expect(withQuery('/a', {})).toBe('/a');
});

it.each([
  [
    'https://g.example:8443/media/task_1/0.mp4?expires=1&sig=x',
    'media/task_1/0.mp4?expires=1&sig=x&via=gateway',
    true,
  ],
  [
    'http://10.0.0.1:8080/below/media/task_1/0?expires=1&sig=x',
    'media/task_1/0?expires=1&sig=x&via=gateway',
    true,
  ],
  ['https://cdn.example/a.mp4', 'https://cdn.example/a.mp4', false],
  ['data:text/html,<b>', '', false],
  ['https://upstream.example/media/a.mp4', 'https://upstream.example/media/a.mp4', false],
  ['javascript:alert(1)', '', false],
  ['data:text/html,x', '', false],
  ['', '', false],
])('shows %s from "%s"', (url, src, isOurs) => expect(sourceOf(url)).toEqual({ src, isOurs }));

const failures: Record<GuardedRequestError['code'] | 'no_answer' | 'not_sent', true> = {
  no_answer: true,
  not_sent: true,
  address_refused: true,
  invalid_request: true,
  dns_failed: true,
  connect_failed: true,
  connect_timeout: true,
  tls_failed: true,
  timeout: true,
  aborted: true,
  connection_lost: true,
  encoded_answer: true,
  answer_too_large: true,
  bad_status: true,
  too_many_redirects: true,
};

it('says in words why a callback got no response', () => {
  const shown = Object.keys(failures).map((error) => answerOf({ status: null, error }));
  expect(shown.filter((words) => words.includes('_') || words.includes('('))).toEqual([
    'no secure connection (TLS)',
  ]);
  expect(answerOf({ status: 204, error: null })).toBe('204');
  expect(answerOf({ status: null, error: 'ENEW' })).toBe('no response (ENEW)');
});

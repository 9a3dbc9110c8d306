import { expect, it } from 'vitest';
import {
  activityTimeouts,
  channelTimesMax,
  copyTimes,
  measureTimes,
  openLinksMs,
  renderedAndKeptMs,
  scheduleTimeouts,
  searchTries,
  stayMaxMs,
  unreadableTries,
  uploadMs,
} from '../../src/base/activity-times.ts';

const { submitMs, pollMs, imageMs } = channelTimesMax;
const { attendedMs, stopMs, searchMs, askingMs } = activityTimeouts;

/** The final check of a job: poll and copy. If a link is refused, poll and copy again. Then measure. */
const lookMs = (copyMs: number): number =>
  2 * (pollMs + copyMs + openLinksMs) + measureTimes.inputMs + measureTimes.resultMs;
const stopping = lookMs(copyTimes.stopMs) + pollMs;
const measuring = unreadableTries.max * (measureTimes.inputMs + unreadableTries.everyMs);
const rendered = renderedAndKeptMs + copyTimes.pollMs + openLinksMs + measureTimes.resultMs;

const writesMs = 30_000;

it.each([
  ['stop a job: cancel it, and look once more', stopping, stopMs],
  ['search for a job, and stop it if it is not wanted', pollMs + stopping, searchMs],
  [
    'submit, and wait for the job',
    measuring + uploadMs + submitMs + stayMaxMs + lookMs(copyTimes.pollMs),
    attendedMs,
  ],
  ['wait for a job', stayMaxMs + lookMs(copyTimes.pollMs), attendedMs],
  ['submit, and stop the job', measuring + uploadMs + submitMs + stopping, attendedMs],
  ['render images at once', rendered, attendedMs],
  ['adopt a job: search for it, and ask for it', 2 * pollMs, askingMs],
  ['complete a task: open its result, and copy it', 2 * openLinksMs + copyTimes.completeMs, askingMs],
])('%s: an attempt fits into its timeout at the largest settings', (_, sumMs, timeoutMs) => {
  expect(sumMs).toBeLessThanOrEqual(timeoutMs - writesMs);
});

it('the longest call that returns images leaves time to store them', () => {
  expect(imageMs).toBeLessThanOrEqual(renderedAndKeptMs - 2 * writesMs);
});

it('all attempts fit into the time that the server allows for them', () => {
  expect(scheduleTimeouts.stopMs).toBeGreaterThanOrEqual(2 * stopMs);
  expect(scheduleTimeouts.searchesMs).toBeGreaterThanOrEqual(searchTries * pollMs + stopping + writesMs);
  expect(scheduleTimeouts.lastSearchMs).toBeGreaterThan(searchMs);
});

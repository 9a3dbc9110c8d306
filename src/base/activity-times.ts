/**
 * The time limits of long activities and of their parts, in milliseconds. A test compares each activity's timeout with
 * the sum of its parts at the largest settings.
 */
const second = 1000;
const minute = 60 * second;

/** The largest values of a channel's `timeouts`. */
export const channelTimesMax = { submitMs: 5 * minute, pollMs: minute, imageMs: 14 * minute } as const;

/** How long copying a result may take. After that, the vendor's link is delivered, and the file is copied later. */
export const copyTimes = { pollMs: 75 * second, stopMs: 25 * second, completeMs: 20 * second } as const;

/** The limit for opening all links of a result that could not be copied in time. */
export const openLinksMs = 15 * second;

/**
 * The limits for measuring a result and a request's videos. Each includes the wait for a thread, of which each account
 * may use two at a time.
 */
export const measureTimes = { resultMs: 20 * second, inputMs: 20 * second } as const;

/** A video may have been published only a moment ago, so reading it is retried this many times. */
export const unreadableTries = { max: 3, everyMs: 2 * second } as const;

export const uploadMs = 2 * minute;

/** How long an attempt may wait in a worker between polls. */
export const stayMaxMs = 10 * minute;

/** How long a call that returns images may take, including the time to store them. */
export const renderedAndKeptMs = 17 * minute;

/** How many attempts a search for a lost job may make. The search at the end of a task gets only one. */
export const searchTries = 5;

/** The start-to-close timeouts. */
export const activityTimeouts = {
  /** A submission and the wait for its job. */
  attendedMs: 25 * minute,
  stopMs: 6 * minute,
  searchMs: 7 * minute,
  /** An action that queries an upstream for an operator, who waits for the reply. */
  askingMs: 3 * minute,
} as const;

/** The schedule-to-close timeouts. */
export const scheduleTimeouts = {
  /** Enough for two full attempts. */
  stopMs: 2 * activityTimeouts.stopMs,
  searchesMs: 12 * minute,
  lastSearchMs: activityTimeouts.searchMs + 10 * second,
} as const;

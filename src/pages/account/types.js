/**
 * @typedef {{
 *   id: string,
 *   kind: 'video' | 'image',
 *   capabilities: {
 *     input_types?: string[], resolutions?: string[], ratios?: string[], sizes?: string[], qualities?: string[], n?: { max: number },
 *     durations?: { min: number, max: number, step: number, default: number, auto: boolean },
 *     inputs: { images?: { max: number }, videos?: { max: number }, audios?: { max: number } },
 *   },
 *   facts: { fields?: Record<string, boolean>, sound?: string }[],
 *   pricing: { currency: string, factor: string, lines: { measure: string, when: Record<string, unknown>, price: string }[] },
 * }} Model
 * @typedef {{
 *   id: string, object: string, status: 'pending' | 'submitted' | 'running' | 'succeeded' | 'failed', message: string,
 *   model: string, created_at: number, completed_at?: number, progress?: number, charge?: string, estimate?: string,
 *   duration?: number, data: { url?: string, b64_json?: string, last_frame_url?: string, expires_at?: number }[],
 *   error?: { code: string, message: string, class?: string },
 *   eta_seconds?: { p50: number, p90: number },
 * }} Task
 * @typedef {{
 *   kind: 'video' | 'image', model: string, prompt: string, extra?: Record<string, unknown>,
 *   firstFrame?: string, lastFrame?: string, references?: string[], videos?: string[], audios?: string[],
 *   images?: { url?: string }[],
 * }} StoredRequest
 * @typedef {{ currency: string, available: string, held: string }} Balance
 */

export {};

import { setTimeout as wait } from 'node:timers/promises';

/** Some 5 ms of work on the heads of packets. */
export const stepsOfTurn = 16_384;

const restMs = 15;

/** Gives the event loop to others for three times as long as a turn of work takes. */
export async function rest(signal: AbortSignal | undefined): Promise<void> {
	await wait(restMs, undefined, signal === undefined ? {} : { signal }).catch(() => signal?.throwIfAborted());
}

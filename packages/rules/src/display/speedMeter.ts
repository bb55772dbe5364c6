/** The state of a speed measurement; make one with the first `measureSpeed` and pass it on to the next. */
export interface SpeedMeter {
	/** When the last sample was taken, in milliseconds. */
	readonly at: number;
	/** Bytes done at that time, since the beginning. */
	readonly bytes: number;
	readonly weightedSpeed: number;
	readonly weight: number;
}

/** A sample that is this old counts for 1/e of a new one. */
const memoryMilliseconds = 3000;

/**
 * Takes a sample: `bytes` done in all at the time `at`. Samples may come at any interval. If `bytes` decreases (a chunk
 * is sent again) the speed of that sample is 0.
 */
export function measureSpeed(meter: SpeedMeter | undefined, at: number, bytes: number): SpeedMeter {
	if (!meter) return { at, bytes, weightedSpeed: 0, weight: 0 };
	const elapsed = at - meter.at;
	// Two samples of the same moment: the next one counts from the earlier, so no byte is lost.
	if (elapsed <= 0) return meter;
	const speed = (Math.max(0, bytes - meter.bytes) / elapsed) * 1000;
	const old = Math.exp(-elapsed / memoryMilliseconds);
	return {
		at,
		bytes,
		weightedSpeed: old * meter.weightedSpeed + (1 - old) * speed,
		weight: old * meter.weight + (1 - old),
	};
}

/** The smoothed speed in bytes per second; undefined before the second sample. */
export function bytesPerSecond(meter: SpeedMeter | undefined): number | undefined {
	// Divided by the weights so far, or the speed would seem to grow from 0 at the beginning.
	return meter && meter.weight > 0 ? meter.weightedSpeed / meter.weight : undefined;
}

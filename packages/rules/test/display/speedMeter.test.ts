import test from 'ava';
import fc from 'fast-check';
import { bytesPerSecond, measureSpeed, type SpeedMeter } from '../../src/index.js';

function measure(samples: readonly (readonly [at: number, bytes: number])[]): number | undefined {
	let meter: SpeedMeter | undefined;
	for (const [at, bytes] of samples) meter = measureSpeed(meter, at, bytes);
	return bytesPerSecond(meter);
}

function isNear(value: number | undefined, expected: number): boolean {
	return value !== undefined && Math.abs(value - expected) <= expected * 1e-6;
}

test('there is no speed before the second sample', (t) => {
	t.is(measure([]), undefined);
	t.is(measure([[1000, 0]]), undefined);
});

test('the speed of a steady stream is exact from the second sample on, at any intervals', (t) => {
	fc.assert(
		fc.property(fc.array(fc.integer({ min: 1, max: 5000 }), { minLength: 1 }), (intervals) => {
			let at = 0;
			const samples = [0, ...intervals].map((interval) => {
				at += interval;
				return [at, at * 250] as const;
			});
			return isNear(measure(samples), 250_000);
		}),
	);
	t.pass();
});

test('the speed smooths a short burst and follows a lasting change', (t) => {
	const steady = Array.from({ length: 20 }, (_, second) => [second * 1000, second * 1000] as const);
	const burst = measure([...steady, [19_100, 19_000 + 10_000]]);
	t.true(burst !== undefined && burst > 1000 && burst < 10_000);
	const faster = Array.from({ length: 30 }, (_, second) => [20_000 + second * 1000, 20_000 + second * 8000] as const);
	t.true((measure([...steady, ...faster]) ?? 0) > 7900);
});

test('the speed of a stalled stream falls towards zero', (t) => {
	t.true(
		(measure([
			[0, 0],
			[1000, 5000],
			[61_000, 5000],
		]) ?? 1) < 1e-3,
	);
});

test('the speed is zero, not negative, when the number of bytes decreases', (t) => {
	t.is(
		measure([
			[0, 5000],
			[1000, 0],
		]),
		0,
	);
});

test('bytes of samples at the same time are counted', (t) => {
	t.true(
		isNear(
			measure([
				[0, 0],
				[0, 700],
				[1000, 1000],
			]),
			1000,
		),
	);
});

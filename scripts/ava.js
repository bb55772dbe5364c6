import TapReporter from '../node_modules/ava/lib/reporters/tap.js';

/**
 * Runs AVA. Its TAP reporter (7.0.0) throws when a test ends its process or hangs, as it expects the error as a test process sends it: the rest of the run would be lost with it.
 */
const { writeTest } = TapReporter.prototype;
TapReporter.prototype.writeTest = function (event, flags) {
	const { err } = event;
	const sent = err instanceof Error ? { type: 'native', name: err.name, originalError: err, stack: err.stack } : err;
	return writeTest.call(this, { ...event, err: sent }, flags);
};

await import('../node_modules/ava/entrypoints/cli.mjs');

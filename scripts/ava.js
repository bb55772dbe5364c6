import TapReporter from '../node_modules/ava/lib/reporters/tap.js';

/**
 * Runs AVA. Its TAP reporter (7.0.0) throws, and the rest of the run is lost, when a test ends its process or hangs,
 * as it expects the error as a test process sends it; and when an error has no stack frame, as those of
 * `node:fs/promises`.
 */
const { writeTest, writeCrash } = TapReporter.prototype;
TapReporter.prototype.writeTest = function (event, flags) {
	return writeTest.call(this, { ...event, err: asSent(event.err) }, flags);
};
TapReporter.prototype.writeCrash = function (event, title) {
	return writeCrash.call(this, { ...event, err: asSent(event.err) }, title);
};

function asSent(error) {
	if (!error) return error;
	const sent =
		error instanceof Error ? { type: 'native', name: error.name, originalError: error, stack: error.stack } : error;
	const stack = sent.stack || sent.originalError?.stack || '';
	return /\n\s*at /.test(stack) ? sent : { ...sent, stack: `${stack || sent.name}\n    at <unknown>` };
}

await import('../node_modules/ava/entrypoints/cli.mjs');

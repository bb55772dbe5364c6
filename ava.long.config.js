import everyday from './ava.config.js';

/**
 * What takes too long for each commit, and what repeats a test of each commit in another form: hours of use, power
 * cuts, races and floods, journeys on a phone, the published package, the test runner. The long forms of tests of each
 * commit are in their files. They need root, Linux and patience, and run one after another.
 */
export default {
	...everyday,
	files: [
		'test/**/*.long.ts',
		...['archives', 'crash', 'e2e/files', 'e2e/frame', 'e2e/jobs', 'e2e/sharing', 'memory', 'parserCosts'].map(
			(name) => `test/${name}.test.ts`,
		),
	],
	environmentVariables: { TEST_LONG: 'yes' },
	concurrency: 1,
	// Hours of use in one piece, on a busy machine: only what hangs is ended.
	timeout: '3h',
};

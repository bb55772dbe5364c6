import everyday from './ava.config.js';

/** The long forms: hours of use, power cuts, races and floods. They need root, Linux and patience, and run one after another. */
export default {
	...everyday,
	files: ['test/faults/**/*.long.ts', 'test/archives.test.ts', 'test/crash.test.ts'],
	environmentVariables: { STOWAGE_FAULTS: 'long' },
	concurrency: 1,
	timeout: '30m',
};

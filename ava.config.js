export default {
	files: [
		'packages/*/test/**/*.test.ts',
		'plugins/*/test/**/*.test.ts',
		'cli/test/**/*.test.ts',
		'web/test/**/*.test.{ts,tsx}',
		'test/**/*.test.ts',
	],
	extensions: { ts: 'module', tsx: 'module' },
	nodeArguments: ['--import=tsx', '--conditions=source'],
	workerThreads: false,
	// Only ends what hangs: how long a test takes says more about the machine than about us.
	timeout: '15m',
};

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
	timeout: '120s',
};

import everyday from './ava.config.js';
import { leftOut } from './test/forms/leftOut.js';

const form = process.env.STOWAGE_TEST_FORM;

/** The tests of the API as they are, with several servers in place of each one; `npm run test:forms` starts it. */
export default {
	...everyday,
	files: [
		'packages/core/test/**/*.test.ts',
		'plugins/{auth-password,handbrake,zip}/test/**/*.test.ts',
		'test/{permissions,unexpectedErrors}.test.ts',
		...everyday.files.filter((file) => file.startsWith('!')),
	],
	// The databases of all servers of a process share the threads of libsql, and one that waits for a lock blocks a thread.
	environmentVariables: { TOKIO_WORKER_THREADS: '32' },
	match: leftOut.filter(({ forms = [form] }) => forms.includes(form)).map(({ title }) => `!${title}`),
};

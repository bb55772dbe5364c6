import { dropPrivileges } from './dropPrivileges.js';
import { createProgram } from './program.js';
import { explain } from './terminal/explain.js';

// The reader of the output has closed the pipe: `stowage audit | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
	if (error.code === 'EPIPE') process.exit(0);
	throw error;
});

try {
	dropPrivileges(process.env);
	await createProgram().parseAsync();
} catch (error) {
	const { message, code } = explain(error);
	if (message !== undefined) console.error(message);
	process.exit(code);
}

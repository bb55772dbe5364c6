import { createProgram } from './program.js';

// The reader of the output has closed the pipe: `stowage audit | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
	if (error.code === 'EPIPE') process.exit(0);
	throw error;
});

try {
	if (process.env.PUID !== undefined || process.env.PGID !== undefined || process.env.UMASK !== undefined) {
		const { dropPrivileges } = await import('./privileges/dropPrivileges.js');
		dropPrivileges(process.env);
	}
	const program = await createProgram(process.argv.slice(2));
	await program.parseAsync();
} catch (error) {
	const { explain } = await import('./terminal/explain.js');
	const { message, code } = explain(error);
	if (message !== undefined) {
		const { printError } = await import('./terminal/output.js');
		printError(message);
	}
	process.exit(code);
}

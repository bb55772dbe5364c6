import { dropPrivileges } from './dropPrivileges.js';
import { explain } from './explain.js';
import { createProgram } from './program.js';

try {
	dropPrivileges(process.env);
	await createProgram().parseAsync();
} catch (error) {
	const { message, code } = explain(error);
	if (message !== undefined) console.error(message);
	process.exit(code);
}

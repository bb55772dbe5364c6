import { createRequire } from 'node:module';
import { Command } from 'commander';
import { configCommand } from './commands/config.js';
import { linkCommand } from './commands/link.js';
import { serveCommand } from './commands/serve.js';
import { serviceCommand } from './commands/service.js';
import { userCommand } from './commands/user.js';
import { endWithError } from './endWithError.js';

/** Both src and dist lie beside package.json. */
const { version } = createRequire(import.meta.url)('../package.json') as { version: string };

const program = new Command('stowage')
	.description('Stowage: a self-hosted file browser and sharing server.')
	.version(version)
	.addCommand(serveCommand())
	.addCommand(userCommand())
	.addCommand(linkCommand())
	.addCommand(configCommand())
	.addCommand(serviceCommand());

try {
	await program.parseAsync();
} catch (error) {
	endWithError(error);
}

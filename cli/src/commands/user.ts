import { type Accounts, createApp } from '@stowage/core';
import { Command } from 'commander';
import { readPassword } from '../readPassword.js';
import { configOf, withSettings } from '../settings.js';

/** Managing accounts works on the database and the disk, whether the server runs or not. */
export function userCommand(): Command {
	return new Command('user')
		.description('manage accounts')
		.addCommand(
			subcommand(
				'add <name>',
				'add an account; the password comes from a prompt or standard input',
				async (accounts, name, { adoptHome }) => {
					const user = await accounts.create(name, await readPassword('Password: '), {
						adoptsHome: adoptHome === true,
					});
					console.log(`Added ${user.username}.`);
				},
			).option('--adopt-home', 'take over a home of that name that lies on disk without a user'),
		)
		.addCommand(
			subcommand('list', 'list the accounts', async (accounts) => {
				for (const user of await accounts.list()) {
					console.log(
						[user.username, user.isDisabled ? 'disabled' : 'enabled', new Date(user.createdAt).toISOString()].join(
							'\t',
						),
					);
				}
			}),
		)
		.addCommand(
			subcommand(
				'passwd <name>',
				'set a password and end all sessions; it comes from a prompt or standard input',
				async (accounts, name) => {
					await accounts.setPassword(name, await readPassword('New password: '));
					console.log(`Changed the password of ${name}.`);
				},
			),
		)
		.addCommand(
			subcommand('disable <name>', 'keep somebody from signing in and end their sessions', async (accounts, name) => {
				await accounts.setDisabled(name, true);
				console.log(`Disabled ${name}.`);
			}),
		)
		.addCommand(
			subcommand('enable <name>', 'let somebody sign in again', async (accounts, name) => {
				await accounts.setDisabled(name, false);
				console.log(`Enabled ${name}.`);
			}),
		)
		.addCommand(
			subcommand('remove <name>', 'remove an account; its files stay on disk', async (accounts, name) => {
				await accounts.remove(name);
				console.log(`Removed ${name}. The files stay on disk.`);
			}),
		);
}

function subcommand(
	usage: string,
	description: string,
	act: (accounts: Accounts, name: string, options: { adoptHome?: boolean }) => Promise<void>,
): Command {
	const command = withSettings(new Command(usage.split(' ')[0]).description(description));
	if (usage.includes('<name>')) command.argument('<name>', 'the user name');
	return command.action(async (name: unknown) => {
		const app = await createApp(configOf(command));
		try {
			await act(app.services.accounts, typeof name === 'string' ? name : '', command.opts());
		} finally {
			await app.stop();
		}
	});
}

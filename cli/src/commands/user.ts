import { type Accounts, createApp, parseByteSize, type Services } from '@stowage/core';
import { Failure, formatListSize } from '@stowage/rules';
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
		)
		.addCommand(
			subcommand('quota <name>', 'show or set how much somebody may keep', setQuota)
				.option('--bytes <size>', 'bytes, such as 10GB; 0 is no limit')
				.option('--entries <count>', 'files and folders; 0 is no limit')
				.option('--none', 'no limit of either, whatever the configuration says')
				.option('--default', 'what the configuration says'),
		);
}

interface QuotaOptions {
	bytes?: string;
	entries?: string;
	none?: boolean;
	default?: boolean;
}

async function setQuota(accounts: Accounts, name: string, options: QuotaOptions, services: Services): Promise<void> {
	const { bytes, entries, none, default: isDefault } = options;
	const { user, quota } = await accounts.quota(name);
	const chosen = [bytes ?? entries, none, isDefault].filter((option) => option !== undefined);
	if (chosen.length > 1) throw new Failure('invalid', 'Give --bytes and --entries, or --none, or --default.');
	if (none) await accounts.setQuota(name, { bytes: 0, entries: 0 });
	else if (isDefault) await accounts.setQuota(name, { bytes: null, entries: null });
	else if (chosen.length > 0) {
		await accounts.setQuota(name, {
			bytes: bytes === undefined ? quota.bytes : parseBytes(bytes),
			entries: entries === undefined ? quota.entries : parseCount(entries),
		});
	}
	await showQuota(accounts, user, services);
}

async function showQuota(
	accounts: Accounts,
	user: { id: string; username: string },
	services: Services,
): Promise<void> {
	const { quota } = await accounts.quota(user.username);
	const { userBytes, userEntries } = services.config.quotas;
	const used = await services.quotas.used({ kind: 'user', id: user.id, username: user.username });
	const of = (most: number, text: (count: number) => string, isDefault: boolean) =>
		`${most === 0 ? 'no limit' : `of ${text(most)}`}${isDefault ? ' (default)' : ''}`;
	const most = { bytes: quota.bytes ?? userBytes, entries: quota.entries ?? userEntries };
	console.log(`bytes\t${formatListSize(used.bytes)}\t${of(most.bytes, formatListSize, quota.bytes === null)}`);
	console.log(`entries\t${used.entries}\t${of(most.entries, String, quota.entries === null)}`);
}

function parseBytes(text: string): number {
	const bytes = parseByteSize(text);
	if (bytes === undefined)
		throw new Failure('invalid', `--bytes: must be a size such as 0, '500 MB' or 10GB, not ${text}`);
	return bytes;
}

function parseCount(text: string): number {
	if (/^\d{1,15}$/.test(text)) return Number(text);
	throw new Failure('invalid', `--entries: must be a whole number, not ${text}`);
}

function subcommand(
	usage: string,
	description: string,
	act: (
		accounts: Accounts,
		name: string,
		options: { adoptHome?: boolean } & QuotaOptions,
		services: Services,
	) => Promise<void>,
): Command {
	const command = withSettings(new Command(usage.split(' ')[0]).description(description));
	if (usage.includes('<name>')) command.argument('<name>', 'the user name');
	return command.action(async (name: unknown) => {
		const app = await createApp(configOf(command));
		try {
			await act(app.services.accounts, typeof name === 'string' ? name : '', command.opts(), app.services);
		} finally {
			await app.stop();
		}
	});
}

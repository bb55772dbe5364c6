import { accountFields, assertUsable } from '@stowage/core';
import { undefinedIf } from '@stowage/rules';
import { Command } from 'commander';
import { appCommand } from '../../commandLine/appCommand.js';
import { printLine } from '../../terminal/output.js';
import { readPassword } from '../../terminal/readPassword.js';
import { type ListOptions, listUsers } from './list.js';
import { type MoveRootOptions, moveRoot } from './moveRoot.js';
import { type QuotaOptions, setQuota } from './quota.js';
import { type RemoveOptions, removeUser } from './remove.js';
import { sessionsCommand } from './sessions.js';
import { showUser } from './show.js';

/** Managing accounts works on the database and the disk, whether the server runs or not. */
export function userCommand(): Command {
	return new Command('user')
		.description('manage accounts')
		.addCommand(
			appCommand<{ adoptHome?: boolean; root?: string }>({
				usage: 'add <name>',
				description: 'add an account; the password comes from a prompt or standard input',
				examples: ['user add ada', 'user add ada --adopt-home < password.txt', 'user add ada --root big'],
				async run({ accounts, audit, roots }, [name = ''], { adoptHome, root }) {
					if (root !== undefined) {
						const mount = await roots.named(root);
						// The name of the root in the sentence, and before a password is typed.
						if (adoptHome !== true) await assertUsable(mount);
					}
					const password = await readPassword('Password: ');
					const home = { adoptsHome: adoptHome === true, ...(root === undefined ? {} : { root }) };
					const add = () => accounts.create(name, password, home);
					const assigned = { action: 'assignHome', account: name } as const;
					const user = await (root === undefined ? add() : audit.recorded({ ...assigned, root }, add, accountFields));
					printLine(`Added ${user.username}.`);
				},
			})
				.option('--adopt-home', 'take over a home of that name that lies on disk without a user')
				.option('--root <name>', 'the storage root that the home shall lie on'),
		)
		.addCommand(
			appCommand<ListOptions>({
				usage: 'list',
				description:
					'list the accounts: name, state, since when, two-factor sign-in, last sign-in, what the home contained when it was last measured, its quota, when that was',
				examples: ['user list', 'user list --usage', 'user list --json'],
				run: (services, _words, options) => listUsers(services, options),
			})
				.option('--usage', 'measure all homes now, which reads all their folders')
				.option('--json', 'as JSON'),
		)
		.addCommand(
			appCommand<{ json?: boolean }>({
				usage: 'show <name>',
				description: 'show an account with its settings, quota, sessions, links and uploads under way',
				examples: ['user show ada', 'user show ada --json'],
				run: (services, [name = ''], options) => showUser(services, name, options),
			}).option('--json', 'as JSON'),
		)
		.addCommand(
			appCommand({
				usage: 'passwd <name>',
				description: 'set a password and end all sessions; it comes from a prompt or standard input',
				examples: ['user passwd ada', 'user passwd ada < password.txt'],
				async run({ accounts }, [name = '']) {
					await accounts.setPassword(name, await readPassword('New password: '));
					printLine(`Changed the password of ${name}.`);
				},
			}),
		)
		.addCommand(
			appCommand({
				usage: 'remove-totp <name>',
				description: 'turn off the two-factor sign-in of a user who lost phone and recovery codes',
				examples: ['user remove-totp ada'],
				async run({ accounts, secondFactors }, [name = '']) {
					const user = await accounts.find(name);
					const wasOn = await secondFactors.remove(user);
					printLine(`Two-factor sign-in of ${user.username} ${wasOn ? 'is off now' : 'was not on'}.`);
				},
			}),
		)
		.addCommand(
			appCommand({
				usage: 'rename <old> <new>',
				description: 'give an account and its home another name; ends its sessions. Cut off, it goes on when run again',
				examples: ['user rename ada lovelace'],
				async run({ accounts }, [from = '', to = '']) {
					await accounts.rename(from, to);
					printLine(`Renamed ${from} to ${to}.`);
				},
			}),
		)
		.addCommand(
			appCommand({
				usage: 'disable <name>',
				description: 'keep somebody from signing in and end their sessions',
				examples: ['user disable ada'],
				async run({ accounts, homeMoves }, [name = '']) {
					const { id } = await accounts.find(name);
					const move = await undefinedIf(homeMoves.underWay(id), 'notFound');
					await accounts.setDisabled(name, true);
					printLine(`Disabled ${name}.`);
					if (move === undefined) return;
					printLine(
						`The move of this home to ${move.root ?? 'another root'} was cancelled: the home stays where it was.`,
					);
				},
			}),
		)
		.addCommand(
			appCommand({
				usage: 'enable <name>',
				description: 'let somebody sign in again',
				examples: ['user enable ada'],
				async run({ accounts }, [name = '']) {
					await accounts.setDisabled(name, false);
					printLine(`Enabled ${name}.`);
				},
			}),
		)
		.addCommand(
			appCommand<RemoveOptions>({
				usage: 'remove <name>',
				description: 'remove an account; asks what becomes of its files, which stay where nobody can be asked',
				examples: ['user remove ada', 'user remove ada --delete-files', 'user remove ada --move-files-to bob'],
				run: (services, [name = ''], options) => removeUser(services, name, options),
			})
				.option('--keep-files', 'they stay on disk, and nobody can register the name')
				.option('--delete-files', 'they are deleted')
				.option('--move-files-to <user>', 'they become a folder in the private files of another user')
				.option('--delete-trash', 'remove for good what is in the trash, which otherwise stays until it expires'),
		)
		.addCommand(
			appCommand<QuotaOptions>({
				usage: 'quota <name>',
				description: 'show or set how much somebody may keep',
				examples: ['user quota ada', 'user quota ada --bytes 10GB --entries 100000', 'user quota ada --default'],
				run: (services, [name = ''], options) => setQuota(services, name, options),
			})
				.option('--bytes <size>', 'bytes, such as 10GB; 0 is no limit')
				.option('--entries <count>', 'files and folders; 0 is no limit')
				.option('--none', 'no limit of either, whatever the configuration says')
				.option('--default', 'what the configuration says')
				.option('--json', 'as JSON'),
		)
		.addCommand(
			appCommand<MoveRootOptions>({
				usage: 'move-root <name> <root>',
				description:
					'move the home of an account to another storage root, while it is used. Cut off, it goes on in the server, or when run again',
				examples: ['user move-root ada big', 'user move-root ada big --no-wait', 'user move-root ada big --json'],
				run: moveRoot,
			})
				.option('--no-wait', 'let the server do it, and end at once')
				.option(
					'--allow-lost-access',
					'also if files lose owners, groups, modes or ACLs that the other root can’t keep, or folders their members',
				)
				.option('--json', 'as JSON'),
		)
		.addCommand(sessionsCommand());
}

import path from 'node:path';
import { type RootState, shellCommand } from '@stowage/core';
import { Failure } from '@stowage/rules';
import { Command } from 'commander';
import { appCommand } from '../commandLine/appCommand.js';
import { startupCode } from '../commandLine/help.js';
import { installedUnit } from '../service/installedUnit.js';
import { unitFaultOf } from '../service/unitFault.js';
import { ExitCode } from '../terminal/explain.js';
import { printLine, printList, type Row, sizeCell } from '../terminal/output.js';
import { withProgress } from '../terminal/Progress.js';

/** Managing storage roots, whether the server runs or not. */
export function rootCommand(): Command {
	return new Command('root')
		.description('manage storage roots: the disks that homes lie on')
		.addCommand(
			appCommand<{ driver: string }>({
				usage: 'add <name> <location>',
				description: 'add a storage root; what lies there already is taken over',
				examples: ['root add big /mnt/big/stowage'],
				async run({ rootAdministration }, [name = '', location = ''], { driver }) {
					await rootAdministration.add(name, driver, location);
					printLine(`Added ${name}.`);
					await warnOfUnit(location);
				},
			}).option('--driver <name>', 'the storage that opens it, by the name under which a plugin offers it', 'local'),
		)
		.addCommand(
			appCommand({
				usage: 'relocate <name> <location>',
				description: 'say where the disk of a storage root is mounted now; the root must be there already',
				examples: ['root relocate big /media/big/stowage'],
				async run({ rootAdministration }, [name = '', location = '']) {
					await rootAdministration.relocate(name, location);
					printLine(`${name} lies in ${location} now.`);
					await warnOfUnit(location);
				},
			}),
		)
		.addCommand(
			appCommand<{ json?: boolean }>({
				usage: 'list',
				description: 'list the storage roots',
				examples: ['root list', 'root list --json'],
				run: async ({ rootAdministration }, _words, { json }) => show(await rootAdministration.list(), json),
			}).option('--json', 'as JSON'),
		)
		.addCommand(
			appCommand<{ json?: boolean }>({
				usage: 'check [name]',
				description:
					'look whether each storage root, or one, is there and can be written to, and whether several nodes may use it at once',
				examples: ['root check', 'root check big'],
				codes: `Exit codes: 0 all are there, 1 one is not, or refused or failed, ${startupCode}.`,
				async run({ rootAdministration }, [name], { json }) {
					const all = await withProgress({ json }, (progress) => {
						progress.begin({ what: 'Checking the storage roots' });
						return rootAdministration.list();
					});
					const chosen = name === undefined ? all : all.filter((root) => root.name === name);
					if (chosen.length === 0) throw new Failure('notFound', `There is no storage root ${name}.`);
					await show(chosen, json, 'with sharing');
					if (chosen.some(({ fault }) => fault !== null)) throw new ExitCode(1);
				},
			}).option('--json', 'as JSON'),
		)
		.addCommand(
			appCommand({
				usage: 'set-default <name>',
				description: 'make new homes, and what belongs to no user, lie on this storage root',
				examples: ['root set-default big'],
				async run({ rootAdministration }, [name = '']) {
					await rootAdministration.setDefault(name);
					printLine(`${name} is the default storage root.`);
				},
			}),
		)
		.addCommand(
			appCommand({
				usage: 'rename <old> <new>',
				description: 'give a storage root another name',
				examples: ['root rename big archive'],
				async run({ rootAdministration }, [name = '', newName = '']) {
					await rootAdministration.rename(name, newName);
					printLine(`${name} is called ${newName} now.`);
				},
			}),
		)
		.addCommand(
			appCommand({
				usage: 'remove <name>',
				description: 'forget a storage root that holds no homes; its files stay',
				examples: ['root remove big'],
				async run({ rootAdministration, homeMoves }, [name = '']) {
					const [coming] = (await homeMoves.list()).filter(({ root }) => root === name);
					if (coming !== undefined) {
						throw new Failure(
							'conflict',
							`The home of ${coming.username} is on its way to ${name}. Wait until it is there, or end that: ${shellCommand`stowage job cancel ${coming.job.id}`}`,
						);
					}
					await rootAdministration.remove(name);
					printLine(`Removed ${name}. Its files stay on disk.`);
				},
			}),
		);
}

/** The service that is installed here, if there is one, may need the folder in its unit. */
async function warnOfUnit(location: string): Promise<void> {
	const unit = path.isAbsolute(location) ? await installedUnit() : undefined;
	const found = unit === undefined ? undefined : await unitFaultOf(unit, location);
	if (found !== undefined) printLine(`${found.message}. To correct that: ${found.remedy}`);
}

function freeCell(freeBytes: number | null): Row[number] {
	return freeBytes === null ? 'unknown' : sizeCell(freeBytes);
}

async function show(roots: readonly RootState[], json: boolean | undefined, sharing?: 'with sharing'): Promise<void> {
	const shownSharing = ({ sharingFaults }: Pick<RootState, 'sharingFaults'>) =>
		sharingFaults === null ? '' : sharingFaults.length === 0 ? 'any number' : `one: ${sharingFaults.join(' ')}`;
	await printList(roots, {
		json,
		columns: [
			...[{ title: 'NAME' }, { title: 'DEFAULT' }, { title: 'STATE' }, { title: 'FREE' }, { title: 'DRIVER' }],
			...[{ title: 'LOCATION' }, { title: 'FAULT', fit: 'wrap' as const }],
			...(sharing ? [{ title: 'NODES', fit: 'wrap' as const }] : []),
		],
		row: ({ name, isDefault, driver, location, freeBytes, fault, ...root }) => [
			name,
			isDefault ? 'default' : '',
			fault === null ? 'ok' : 'unavailable',
			fault === null ? freeCell(freeBytes) : '',
			driver,
			location ?? '',
			fault ?? '',
			...(sharing ? [shownSharing(root)] : []),
		],
	});
}

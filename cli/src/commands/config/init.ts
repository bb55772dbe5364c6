import path from 'node:path';
import { type Config, ConfigError, flagOf, loadConfig, peersOf, settingNames, shellCommand } from '@stowage/core';
import { Failure } from '@stowage/rules';
import { Command } from 'commander';
import { commandLog } from '../../commandLine/commandLog.js';
import { changedConfigText, isAsShipped, newConfigText } from '../../commandLine/configText.js';
import { withHelp } from '../../commandLine/help.js';
import { configFileOf, defaultPlugins, flagsOf, withSettings } from '../../commandLine/settings.js';
import { installedUnit } from '../../service/installedUnit.js';
import { defaultDataDir } from '../../service/unit.js';
import { printFault, printLine } from '../../terminal/output.js';
import { isInteractive, prompt } from '../../terminal/prompt.js';
import { recordConfig } from './recordConfig.js';
import { type ConfigPlace, configPlace, presentConfig, writeConfig } from './writeConfig.js';

type Flags = Readonly<Record<string, string>>;

/** Writes the first configuration from options and from answers at the terminal. */
export function initCommand(): Command {
	const command = withSettings(
		new Command('init')
			.description(
				'write the first configuration: asks who may come, unless options say so, and has all other settings as comments',
			)
			.argument('[file]', 'where to; by default the file that --config or STOWAGE_CONFIG names')
			.option('--yes', 'ask nothing: take the recommended answer wherever no option gives one')
			.option('--force', 'change a file that has settings; the old one is kept beside it'),
	);
	withHelp(command, [
		'config init',
		'config init /etc/stowage/stowage.yaml --public-url https://files.example.org --visitors read --registration closed',
		'config init --yes --data-dir /srv/stowage',
	]);
	return command.action(async (file: string | undefined, { yes, force }: { yes?: true; force?: true }) => {
		const name = file === undefined ? configFileOf(command) : path.resolve(file);
		if (name === undefined) throw new Failure('invalid', 'Say where to: stowage config init <file>');
		const place = await configPlace(name);
		await write(command, place, name, { isAgreed: yes === true, isForced: force === true }).finally(place.close);
	});
}

interface How {
	isAgreed: boolean;
	isForced: boolean;
}

async function write(command: Command, place: ConfigPlace, name: string, { isAgreed, isForced }: How): Promise<void> {
	const present = await presentConfig(place);
	const isNew = present === undefined || isAsShipped(present.text);
	if (!isNew && !isForced) {
		const message = `There is a file of this name already: ${name}. With --force its answers are changed, and the old one is kept beside it.`;
		throw new Failure('alreadyExists', message);
	}
	const before = present === undefined ? undefined : load({ '--config': place.file });
	const given = { ...(isNew ? dataDirOf(name, before) : {}), ...givenFlags(command) };
	const answers = { ...given, ...(await ask(given, isNew ? undefined : before, isAgreed)) };
	const config = load(isNew ? answers : { '--config': place.file, ...answers });
	const text = isNew ? newConfigText(config, writtenNames(answers)) : changedConfigText(present.text, answers);
	const kept = await writeConfig(place, text, present);
	printLine(`Wrote ${name}.${kept === undefined ? '' : ` The old one is ${kept}.`}`);
	for (const line of await nextSteps(name, config)) printLine(line);
	await recordConfig(config, writtenNames(answers), commandLog(command, config));
}

function load(flags: Flags): Config {
	return loadConfig({ flags, defaultPlugins });
}

/**
 * Paths of the command line begin in its working directory, and those of the file in the file's folder. Throws ConfigError before anybody
 * is asked.
 */
function givenFlags(command: Command): Flags {
	const { '--config': _, ...given } = flagsOf(command);
	const { dataDir, databaseUrl } = load(given);
	if (given['--data-dir'] !== undefined) given['--data-dir'] = dataDir;
	if (given['--database-url'] !== undefined) given['--database-url'] = databaseUrl;
	return given;
}

/** Where the data are unless an option says so: where they were, or where the service has them. */
function dataDirOf(file: string, before: Config | undefined): Flags {
	const folder = path.dirname(file);
	const usual = folder === '/etc/stowage' ? defaultDataDir : path.join(folder, 'data');
	return { '--data-dir': before?.dataDir ?? usual };
}

/** An empty address is the default. */
function writtenNames(answers: Flags): string[] {
	return settingNames.filter((name) => answers[flagOf(name)] !== undefined && answers[flagOf(name)] !== '');
}

/**
 * The answers that are not given: of the person at the terminal, or the recommended ones if `isAgreed`. What was in force `before` is
 * recommended, if anything was.
 */
async function ask(given: Flags, before: Config | undefined, isAgreed: boolean): Promise<Flags> {
	const answers: Record<string, string> = {};
	const answer = async (flag: string, question: string, recommended: string) => {
		answers[flag] = given[flag] ?? (isAgreed ? recommended : await askFor(flag, question, recommended));
		return answers[flag];
	};
	const address = await answer(
		'--public-url',
		'The public address, such as https://files.example.org (empty: only this network)',
		before?.publicUrl ?? '',
	);
	// Whoever finds a public server may fill its disk otherwise.
	const isPublic = address.startsWith('https:');
	await answer(
		'--visitors',
		'What people without an account may do in the public area: upload, read (browse and download) or off',
		before?.visitors ?? (isPublic ? 'read' : 'upload'),
	);
	await answer(
		'--registration',
		'Who may sign up: open (everybody) or closed (you make the accounts)',
		before?.registration ?? (isPublic ? 'closed' : 'open'),
	);
	return answers;
}

/** Asks until the server's parser accepts the answer. */
async function askFor(flag: string, question: string, recommended: string): Promise<string> {
	if (!isInteractive()) {
		const message = `There is no terminal to ask at: ${question}? Say so with ${flag}, or take what is recommended with --yes.`;
		throw new Failure('invalid', message);
	}
	for (;;) {
		const answer = (await prompt(`${question}${recommended === '' ? '' : ` [${recommended}]`}: `)) || recommended;
		try {
			load({ [flag]: answer });
			return answer;
		} catch (error) {
			if (!(error instanceof ConfigError)) throw error;
			printFault(error.message);
		}
	}
}

async function nextSteps(file: string, config: Config): Promise<string[]> {
	const { publicUrl, listen, registration } = config;
	const { trusted, host } = peersOf(config);
	const isOfService = path.dirname(file) === '/etc/stowage' && (await installedUnit()) !== undefined;
	const start = isOfService ? 'sudo systemctl restart stowage' : shellCommand`stowage serve --config ${file}`;
	const steps = [`Next: ${start}`];
	if (registration === 'closed') steps.push('Then make the first account: stowage user add <name>');
	if (host === undefined)
		steps.push(`It can be reached by a proxy alone, at the socket ${listen.slice('unix:'.length)}: docs/proxy.md`);
	else if (publicUrl.startsWith('https:') && trusted.length === 0)
		steps.push(`It needs a proxy with https before it, whose address is set as trustedProxies: docs/proxy.md`);
	if (publicUrl === '' && host === '127.0.0.1')
		steps.push('It can be reached from this machine only: for the others of your network set host to 0.0.0.0.');
	return [...steps, 'Whether all is well: stowage doctor'];
}

import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { root } from '../run.js';
import { manPage } from './manPage.js';
import { recentChanges } from './version.js';

const execute = promisify(execFile);

export const maintainer = 'Stowage <stowage@localhost>';

/** Files of /etc that the administrator may change; an upgrade asks before it replaces one. */
export const conffiles = [
	'/etc/fail2ban/filter.d/stowage.conf',
	'/etc/fail2ban/jail.d/stowage.conf',
	'/etc/stowage/config.yaml',
];

/**
 * Writes what a Debian package has beside its program: documents, manual, changelog, completion, and what bans
 * addresses once it is enabled.
 */
export async function writeDocuments(tree, version) {
	const changes = await recentChanges();
	const time = changes === undefined ? new Date() : new Date(changes.time);
	const documents = 'usr/share/doc/stowage';
	const put = (file, content) => write(path.join(tree, file), content);
	await copy('docs', path.join(tree, documents, 'docs'));
	await copy('README.md', path.join(tree, documents, 'README.md'));
	await copy('config/proxies', path.join(tree, documents, 'examples'));
	await copy('config/default.yaml', path.join(tree, documents, 'examples/default.yaml'));
	await copy('scripts/packaging/debian/copyright', path.join(tree, documents, 'copyright'));
	await put(`${documents}/changelog.gz`, zipped(changelog(version, time, changes?.subjects)));

	const { createProgram } = await import('../../cli/dist/program.js');
	const page = manPage(await createProgram(), version, time.toISOString().slice(0, 10));
	await put('usr/share/man/man1/stowage.1.gz', zipped(page));
	for (const [shell, file] of Object.entries(completions)) await put(file, await completion(shell));

	await copy('config/fail2ban/filter.d/stowage.conf', path.join(tree, 'etc/fail2ban/filter.d/stowage.conf'));
	await put('etc/fail2ban/jail.d/stowage.conf', disabledJail(await readFile(path.join(root, jail), 'utf8')));
	await copy('scripts/packaging/debian/lintian-overrides', path.join(tree, 'usr/share/lintian/overrides/stowage'));
}

const jail = 'config/fail2ban/jail.d/stowage.conf';

const completions = {
	bash: 'usr/share/bash-completion/completions/stowage',
	zsh: 'usr/share/zsh/vendor-completions/_stowage',
	fish: 'usr/share/fish/vendor_completions.d/stowage.fish',
};

async function completion(shell) {
	return (await execute(process.execPath, [path.join(root, 'cli/bin/stowage.js'), 'completion', shell])).stdout;
}

/** fail2ban reads its folders by itself, and banning is for the administrator to decide. */
function disabledJail(text) {
	const [, ...lines] = text.split('\n');
	const says =
		'# Bans addresses that fail to sign in, once /etc/fail2ban/jail.d/stowage.local says: [stowage] and enabled = true';
	const disabled = lines.map((line) => line.replace(/^enabled(\s*)= true$/, 'enabled$1= false'));
	if (!disabled.some((line) => /^enabled\s*= false$/.test(line)))
		throw new Error(`${jail} has no line enabled = true.`);
	return [says, ...disabled].join('\n');
}

function changelog(version, time, subjects = ['Built from sources without their history.']) {
	const date = time.toUTCString().replace(/GMT$/, '+0000');
	const lines = subjects.flatMap((subject) =>
		wrapped(subject).map((line, at) => `${at === 0 ? '  * ' : '    '}${line}`),
	);
	return `stowage (${version}) unstable; urgency=medium\n\n${lines.join('\n')}\n\n -- ${maintainer}  ${date}\n`;
}

function wrapped(text) {
	return text.match(/\S.{0,74}(?=\s|$)|\S+/g) ?? [text];
}

/** Without the time, so that the same sources give the same package. */
function zipped(text) {
	return gzipSync(text, { level: 9 });
}

async function write(file, content) {
	await mkdir(path.dirname(file), { recursive: true });
	await writeFile(file, content);
}

async function copy(from, to) {
	await mkdir(path.dirname(to), { recursive: true });
	await cp(path.join(root, from), to, { recursive: true });
}

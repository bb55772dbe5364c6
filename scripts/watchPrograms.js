import childProcess, { ChildProcess } from 'node:child_process';
import { accessSync, constants, readdirSync, realpathSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { root } from './run.js';

/** Where a system keeps programs; those that a test or npm made lie elsewhere. */
const system = ['/bin/', '/sbin/', '/usr/', '/opt/', '/snap/'];
const systemPath = '/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/sbin:/usr/local/bin';

/**
 * Records each program that this process starts and that has no link in `folder`: the machine has it (`unlisted`),
 * also if it is started by its path, or it is nowhere (`missing`). Each name once.
 */
export function watchPrograms(folder, record) {
	const listed = new Set([
		process.execPath,
		...readdirSync(folder).map((name) => realpathSync(path.join(folder, name))),
	]);
	const known = new Set();
	const check = (program, searched = process.env.PATH ?? '', cwd = process.cwd()) => {
		const key = `${searched}\0${program}`;
		if (known.has(key)) return;
		known.add(key);
		const at = find(program, searched, cwd);
		const found = at ?? find(program, systemPath, cwd);
		if (found === undefined) {
			if (!program.includes('/')) record({ kind: 'missing', program, by: caller() });
		} else if (!listed.has(found) && isOfSystem(found)) record({ kind: 'unlisted', program, by: caller() });
	};

	const { spawn } = ChildProcess.prototype;
	ChildProcess.prototype.spawn = function (options) {
		const variable = options.envPairs?.find((pair) => pair.startsWith('PATH='));
		check(options.file, variable?.slice('PATH='.length), options.cwd && String(options.cwd));
		return spawn.call(this, options);
	};
	for (const name of ['spawnSync', 'execFileSync']) {
		const original = childProcess[name];
		childProcess[name] = (file, ...rest) => {
			const options = rest.find((one) => one !== null && typeof one === 'object' && !Array.isArray(one));
			check(options?.shell ? '/bin/sh' : file, options?.env?.PATH, options?.cwd && String(options.cwd));
			return original(file, ...rest);
		};
	}
	syncBuiltinESMExports();
}

/** The real path of the program that the system would start. */
function find(program, searched, cwd) {
	const folders = program.includes('/') ? [''] : searched.split(path.delimiter);
	for (const each of folders) {
		const file = path.resolve(cwd, each, program);
		try {
			accessSync(file, constants.X_OK);
			return realpathSync(file);
		} catch {
			// Not there.
		}
	}
	return undefined;
}

function isOfSystem(file) {
	return system.some((beginning) => file.startsWith(beginning)) && !file.startsWith(`${root}/`);
}

/** The test file in the stack, which a file that only imports others is not. */
function caller() {
	const stack = new Error().stack ?? '';
	const [, file] = /(?:file:\/\/)?(\/[^\n()]*\.test\.[jt]sx?)[:\d]*\)?$/m.exec(stack) ?? [];
	return file === undefined ? undefined : path.relative(root, file).replace(/^dist\/(.+)\.js$/, '$1.ts');
}

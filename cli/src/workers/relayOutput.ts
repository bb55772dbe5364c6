import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import { standardError } from '@stowage/core';
import { escapeControls } from '@stowage/rules';
import { printLine } from '../terminal/output.js';

/** A longer line is relayed in parts. */
const maxLine = 65_536;

/** Prints what a process says, which has neither the terminal nor the files of this one, on both outputs of this one. */
export function relayOutput({ stdout, stderr }: Pick<ChildProcess, 'stdout' | 'stderr'>): void {
	const errors = standardError();
	if (stdout !== null) relayLines(stdout, printLine);
	if (stderr !== null) relayLines(stderr, (line) => errors.write(`${escapeControls(line, '\t')}\n`));
}

function relayLines(from: Readable, print: (line: string) => void): void {
	let rest = '';
	from.setEncoding('utf8').on('data', (text: string) => {
		const lines = (rest + text).split('\n');
		rest = lines.pop() ?? '';
		for (const line of lines) print(line);
		if (rest.length < maxLine) return;
		print(rest);
		rest = '';
	});
	from.on('end', () => {
		if (rest !== '') print(rest);
	});
}

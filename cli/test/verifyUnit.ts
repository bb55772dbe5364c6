import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/**
 * What `systemd-analyze verify` says of a unit in a file, and the code with which it ends. It reads the units that this
 * one is ordered after, too, and warns of those that other packages have installed on the machine.
 */
export async function verifyUnit(unit: string): Promise<{ code: number; output: string }> {
	try {
		const { stdout, stderr } = await promisify(execFile)('systemd-analyze', ['verify', unit]);
		return { code: 0, output: withoutOthers(stdout + stderr) };
	} catch (error) {
		const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
		return { code, output: withoutOthers(stdout + stderr) };
	}
}

function withoutOthers(output: string): string {
	const isOfOther = (line: string) => /^\/(?:usr\/)?(?:lib|etc)\/systemd\/system\//.test(line);
	return output.replaceAll(/.*\n/g, (line) => (isOfOther(line) ? '' : line));
}

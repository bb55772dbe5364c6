import { BlockList, isIP } from 'node:net';
import { type Config, checkConfig, peersOf, readConfigBytes, strangersMay } from '@stowage/core';
import { isFailure } from '@stowage/rules';
import { isAsShipped } from '../commandLine/configText.js';
import { checkFirstRoot } from '../commandLine/firstRoot.js';
import { type Finding, fault, ok, reasonOf, warn } from './findings.js';

export async function checkConfiguration(config: Config): Promise<Finding[]> {
	const what = 'configuration';
	const findings = config.warnings.map((warning) => warn(what, warning, 'Remove the variable, or correct its name.'));
	try {
		await checkConfig(config);
		await checkFirstRoot(config);
		return [...findings, ok(what, 'valid')];
	} catch (error) {
		// That of the storage says which disks do not answer.
		if (isFailure(error, 'unavailable')) return [...findings, ok(what, 'valid')];
		return [...findings, fault(what, reasonOf(error), 'Correct the setting: docs/operations.md, config/default.yaml.')];
	}
}

/** Whether anybody has decided who may come, or the file is still the one that came with the package. */
export function checkFirstSteps(file: string | undefined): Finding[] {
	if (file === undefined) return [];
	if (!isAsShipped(textOf(file))) return [];
	const message = `${file} is as it was shipped: everybody who reaches the server may upload and sign up`;
	return [warn('first steps', message, 'sudo stowage config init')];
}

function textOf(file: string): string {
	try {
		return readConfigBytes(file).toString();
	} catch {
		// The configuration in force has been read from it; its owner may have closed it to this user.
		return '';
	}
}

const visitorsMay: Readonly<Record<Config['visitors'], string>> = {
	upload: 'upload, browse and download in the public area',
	read: 'browse and download in the public area, and upload nothing',
	off: 'use temporary links, and nothing else',
};

const signUp: Readonly<Record<Config['registration'], string>> = {
	open: 'everybody may sign up',
	closed: 'nobody may sign up, you make the accounts',
};

/** What people without an account may do; a warning if they may fill the disk of a server that the internet can reach. */
export function checkStrangers(config: Config): Finding[] {
	const what = 'strangers';
	const permitted = strangersMay(config);
	if (permitted !== undefined)
		return [warn(what, permitted, 'Unless you want that, set visitors to read (or off) and registration to closed.')];
	const { visitors, registration } = config;
	const both = `(visitors: ${visitors}, registration: ${registration})`;
	return [ok(what, `people without an account may ${visitorsMay[visitors]}; ${signUp[registration]} ${both}`)];
}

/** Whether clients behind a proxy are distinguished, and whether forwarding headers are accepted from proxies only. */
export function checkProxy(config: Config): Finding[] {
	const { publicUrl } = config;
	const { trusted, host } = peersOf(config);
	const what = 'proxy';
	const findings: Finding[] = [];
	const everybody = trusted.filter((network) => /\/0$/.test(network));
	if (everybody.length > 0)
		findings.push(
			fault(
				what,
				`trustedProxies has ${everybody.join(', ')}: everybody can say that they come from any address`,
				"Name the proxy's own address only.",
			),
		);
	if (publicUrl.startsWith('https:') && trusted.length === 0)
		findings.push(
			warn(
				what,
				'publicUrl is https and trustedProxies is empty: all people behind the proxy have one address, and its limits',
				"Set trustedProxies to the proxy's address, such as 127.0.0.1.",
			),
		);
	if (publicUrl === '' && trusted.length > 0)
		findings.push(
			warn(
				what,
				`${host === undefined ? 'the server listens at a unix socket, for a proxy,' : 'trustedProxies is set'} and publicUrl is not: the server answers to every host name`,
				'Set publicUrl to the address that people use.',
			),
		);
	if (!publicUrl.startsWith('https:') && host !== undefined && !isLoopback(host))
		findings.push(
			warn(
				what,
				`the server listens on ${host} without https: passwords can be read on the way`,
				'Put a proxy with https before it: config/proxies/.',
			),
		);
	return findings.length > 0 ? findings : [ok(what, publicUrl === '' ? 'none, on this machine only' : publicUrl)];
}

function isLoopback(host: string): boolean {
	const loopback = new BlockList();
	loopback.addSubnet('127.0.0.0', 8, 'ipv4');
	loopback.addAddress('::1', 'ipv6');
	const family = isIP(host);
	return family === 0 ? host === 'localhost' : loopback.check(host, family === 6 ? 'ipv6' : 'ipv4');
}

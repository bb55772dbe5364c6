export interface ClientDescription {
	/** `Firefox on Windows`, `Safari on iPhone`, `curl`; `Unknown client` if its user agent names neither a program nor a system. */
	name: string;
	kind: 'desktop' | 'mobile' | 'program' | 'unknown';
}

/**
 * Describes a client by its user agent, as far as that is honest: browsers freeze the versions of themselves and of their systems, and
 * some names that they are sold by (Brave) are not in it. Null if the client sent none.
 */
export function describeClient(userAgent: string | null): ClientDescription {
	const text = userAgent ?? '';
	const system = firstMatch(systems, text);
	const browser = firstMatch(browsers, text);
	if (text.startsWith('Mozilla/')) {
		const name = [browser ?? 'Unknown browser', system].filter((part) => part !== undefined).join(' on ');
		if (browser === undefined && system === undefined) return unknownClient;
		return { name, kind: system !== undefined && mobileSystems.has(system) ? 'mobile' : 'desktop' };
	}
	// A program names itself first: `curl/8.14.1`, `okhttp/5.1.0`, `node`.
	const program = /^([A-Za-z][\w.+-]{0,39})(?:$|[/\s])/.exec(text)?.[1];
	return program === undefined ? unknownClient : { name: program, kind: 'program' };
}

const unknownClient: ClientDescription = { name: 'Unknown client', kind: 'unknown' };

type Pattern = readonly [name: string, pattern: RegExp];

/** Browsers, tried in this order: most also name those that they descend from or want to be taken for. */
const browsers: readonly Pattern[] = [
	['Edge', /\bEdg(?:A|iOS)?\//],
	['Opera', /\b(?:OPR|OPT|OPX)\//],
	['Samsung Internet', /\bSamsungBrowser\//],
	['Vivaldi', /\bVivaldi\//],
	['Yandex Browser', /\bYaBrowser\//],
	['DuckDuckGo', /\b(?:DuckDuckGo|Ddg)\//],
	['Firefox', /\b(?:Firefox|FxiOS)\//],
	['Chrome', /\b(?:CriOS|HeadlessChrome|Chrome|Chromium)\//],
	['Safari', /\bVersion\/[\d.]+ (?:Mobile(?:\/\w+)? )?Safari\//],
];

/** Systems, tried in this order: Android names Linux too, and an iPhone Mac OS. */
const systems: readonly Pattern[] = [
	['iPhone', /\biPhone\b/],
	['iPad', /\biPad\b/],
	['Android', /\bAndroid\b/],
	['ChromeOS', /\bCrOS\b/],
	['Windows', /\bWindows\b/],
	['macOS', /\bMac(?:intosh\b| OS X\b)/],
	['FreeBSD', /\bFreeBSD\b/],
	['OpenBSD', /\bOpenBSD\b/],
	['Linux', /\bLinux\b/],
];

const mobileSystems: ReadonlySet<string> = new Set(['iPhone', 'iPad', 'Android']);

function firstMatch(patterns: readonly Pattern[], text: string): string | undefined {
	return patterns.find(([, pattern]) => pattern.test(text))?.[0];
}

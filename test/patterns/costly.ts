/**
 * Patterns of the product that take longest to check, together more than all others: `npm test` takes them as checked,
 * which only a change of them could change, and one that was changed is none of these.
 */
export const costly: ReadonlySet<string> = new Set(
	[
		/(^|;[ \t]*)(__Host-|__Secure-)?sid=Fe26\.2\*/,
		/-decoder done: \d+ frames, (\d+) decoder errors/,
		/<meta name="description"[^<>]*>/,
		/\b(?:translateZ|perspective)\([^()]*\)/gi,
		/\b(mysql|mariadb):\/\/\S+/gi,
		/\b(translate|scale)3d\(([^(),]*,[^(),]*),[^(),]*\)/gi,
		/\bVersion\/[\d.]+ (?:Mobile(?:\/\w+)? )?Safari\//,
		/^(?:contents|inherit|initial|unset|revert|revert-layer|ruby.*|math|run-in)$|(?:^|\s)inline(?:\s|$)|\(/,
		/^(?:is|has)_?(?:vbr|trusted|protected|video|audio|image|script|attached\w*|cross\w*)$/,
		/^(?:make|model|location|com\.(?:apple|android)\..*)$|\.location\./,
		/^Encoding: task (\d+) of (\d+), (\d+(?:\.\d+)?) %(?: \((\d+(?:\.\d+)?) fps, avg (\d+(?:\.\d+)?) fps, ETA (\d+)h(\d+)m(\d+)s\))?/,
		/^New route \S+ conflicts with existing (\S+)$/,
		/^\/api\/(?:share\/[^/]+\/)?uploads\/./,
		/^\[(?:h264|hevc|NULL) @ 0x[0-9a-f]+\] \[\w+\] (?:unknown SEI type|Skipped (?:PRE|SUF)FIX SEI) (\d+)/,
		/^\[(?:h264|hevc|NULL) @ 0x[0-9a-f]+\] \[\w+\] Unsupported User Data Registered/,
		/^\[(?:h264|hevc|NULL) @ 0x[0-9a-f]+\] \[debug\] nal_unit_type: (\d+)\([^)]*\), (nal_ref_idc|nuh_layer_id): (\d+)/,
		/^\s*(?:# +\S*node\[\d+\]: |\S*node\[\d+\]: |#\n# Fatal process OOM|FATAL ERROR: )/,
		/^com\.apple\.quicktime\.(?:video-orientation|scene-illuminance|full-frame-rate-playback-intent|detected-face(?:\.[a-z-]+)?)$/,
		/^stowage-\d{4}-\d\d-\d\dT\d{6}Z\.zip\.[0-9a-f]{12}\.partial$/,
		/^wm\/(?:encod|mediaclass|tool|provider|uniquefile|wmc|wmadrc|codec|asf|video)\w*$/,
		/^xmpDM:video(?:Frame|Pixel|Color|Alpha|Compressor|Field|ModDate)\w*$/,
		/out of memory|malloc of size \d+ failed|Cannot allocate memory/i,
	].map(String),
);

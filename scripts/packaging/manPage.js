/** The manual page of a command line, from the help of its commands. `date` is such as 2026-11-23. */
export function manPage(program, version, date) {
	return [
		`.TH STOWAGE 1 "${date}" "stowage ${escaped(version)}" "User Commands"`,
		'.SH NAME',
		'stowage \\- self\\-hosted file browser and sharing server',
		'.SH SYNOPSIS',
		'.B stowage',
		'.I command',
		'[\\fIoptions\\fR]',
		'.SH DESCRIPTION',
		paragraph(program.description()),
		'Commands that root runs become the owner of the data folder, to whom all files belong.',
		'.SH COMMANDS',
		...leavesOf(program).flatMap(([words, command]) => section(words, command)),
		'.SH SETTINGS',
		'Most commands take \\fB\\-\\-config\\fR and every setting as an option:',
		'\\fIuploads.maxFileSize\\fR is \\fB\\-\\-uploads\\-max\\-file\\-size\\fR,',
		'or the variable \\fBSTOWAGE_UPLOADS_MAX_FILE_SIZE\\fR.',
		'Options come first, then variables, then the file, then the defaults.',
		'.SH FILES',
		...files.flatMap(([file, says]) => ['.TP', `.I ${escaped(file)}`, escaped(says)]),
		'.SH SEE ALSO',
		'.BR systemctl (1),',
		'.BR journalctl (1),',
		'.I /usr/share/doc/stowage/docs',
		'',
	].join('\n');
}

const files = [
	['/etc/stowage/config.yaml', 'The settings; see stowage config init.'],
	['/var/lib/stowage', 'The database, the keys and, unless the storage is told otherwise, the files.'],
	['/usr/share/doc/stowage/examples/default.yaml', 'Every setting with its default.'],
];

/** The commands that have no commands of their own, with their words. */
function leavesOf(command, words = ['stowage']) {
	if (command.commands.length === 0) return [[words, command]];
	return command.commands.flatMap((each) => leavesOf(each, [...words, each.name()]));
}

function section(words, command) {
	const options = command.options.filter(
		({ long, description }) => long !== '--settings' && !/^the setting /.test(description),
	);
	return [
		`.SS ${escaped(words.join(' '))}`,
		`.B ${escaped(words.join(' '))}`,
		escaped(command.usage()),
		'.PP',
		paragraph(command.description()),
		...command.registeredArguments
			.filter(({ description }) => description)
			.flatMap((argument) => ['.TP', `.I ${escaped(argument.name())}`, paragraph(argument.description)]),
		...options.flatMap(({ flags, description }) => ['.TP', `.B ${escaped(flags)}`, paragraph(description)]),
		'.PP',
		...preformatted(textAfter(command)),
	];
}

/** What the help has after the options: examples and exit codes. */
function textAfter(command) {
	let text = '';
	command.configureOutput({
		writeOut(part) {
			text += part;
		},
	});
	command.outputHelp();
	return text.slice(Math.max(0, text.indexOf('\nExamples:'))).trim();
}

function preformatted(text) {
	return ['.nf', ...text.split('\n').map(paragraph), '.fi'];
}

/** A line that begins with a dot or an apostrophe would be a request of roff. */
function paragraph(text) {
	return escaped(text).replace(/^(?=[.'])/, '\\&');
}

function escaped(text) {
	return text
		.replaceAll('\\', '\\e')
		.replaceAll('-', '\\-')
		.replaceAll(/\s*\n\s*/g, ' ')
		.replace(/\s+$/, '');
}

import { Failure } from '@stowage/rules';
import test from 'ava';
import {
	type AuthFormAction,
	authFormReducer,
	emptyAuthForm,
	endsAttempt,
	formError,
	maySubmit,
	serverError,
} from '../src/features/account/authForm.js';
import {
	describeError,
	emptyPasswordForm,
	maySubmit as mayChangePassword,
	formError as passwordFormError,
	passwordFormReducer,
} from '../src/features/settings/password/passwordForm.js';
import { clientOf, sessionLines } from '../src/features/settings/sessions/sessionText.js';
import {
	areFew,
	inGroups,
	recoveryCodesFileName,
	recoveryCodesText,
} from '../src/features/settings/twoFactor/recoveryCodes.js';
import { changedSettings } from '../src/features/settings/useSettingsDraft.js';

const filled = { ...emptyAuthForm, username: 'ada', password: 'correct horse', confirm: 'correct horse' };

test('signing in needs a name and a password', (t) => {
	t.true(maySubmit({ ...filled, confirm: '' }, 'login'));
	t.false(maySubmit({ ...filled, username: '' }, 'login'));
	t.false(maySubmit({ ...filled, password: '' }, 'login'));
});

test('signing up also needs the password confirmation', (t) => {
	t.true(maySubmit(filled, 'register'));
	t.false(maySubmit({ ...filled, confirm: '' }, 'register'));
});

test('a form that is being submitted is not submitted again', (t) => {
	t.false(maySubmit(authFormReducer(filled, { type: 'submitted' }), 'login'));
});

test('another name, password or mode ends the attempt in flight', (t) => {
	const busy = authFormReducer(filled, { type: 'submitted' });
	const actions: AuthFormAction[] = [
		{ type: 'changed', field: 'username', value: 'bob' },
		{ type: 'changed', field: 'password', value: 'other' },
		{ type: 'changed', field: 'confirm', value: 'other' },
		{ type: 'modeChanged' },
		{ type: 'reset' },
	];
	for (const action of actions) {
		t.true(endsAttempt(action), JSON.stringify(action));
		t.false(authFormReducer(busy, action).isBusy, JSON.stringify(action));
	}
});

test('another code does not end the attempt in flight, which may have used the code up', (t) => {
	const busy = authFormReducer({ ...filled, code: '123456' }, { type: 'submitted' });
	const action = { type: 'changed', field: 'code', value: '1234567' } as const;
	t.false(endsAttempt(action));
	t.true(authFormReducer(busy, action).isBusy);
	t.false(endsAttempt({ type: 'submitted' }));
});

test('passwords that differ are refused before the request, and only when signing up', (t) => {
	t.is(formError({ ...filled, confirm: 'other' }, 'register'), 'Passwords do not match');
	t.is(formError({ ...filled, confirm: 'other' }, 'login'), undefined);
	t.is(formError(filled, 'register'), undefined);
});

test('an error begins with the call that failed', (t) => {
	t.is(serverError('login', 'Invalid username or password'), 'Login failed: Invalid username or password');
	t.is(serverError('register', 'Taken'), 'Registration failed: Taken');
});

test('submitting again hides the last error, and cancelling clears the form', (t) => {
	const failed = authFormReducer(filled, { type: 'failed', error: 'No' });
	t.is(failed.error, 'No');
	t.is(authFormReducer(failed, { type: 'submitted' }).error, undefined);
	t.deepEqual(authFormReducer(failed, { type: 'reset' }), emptyAuthForm);
});

test('a code that the server asks for is no error, and is needed to submit again', (t) => {
	const asked = authFormReducer(filled, { type: 'failed', error: 'A code is needed.', kind: 'secondFactor' });
	t.deepEqual(asked, { ...filled, code: '' });
	t.false(maySubmit(asked, 'login'));
	t.false(maySubmit({ ...asked, code: ' ' }, 'login'));
	t.true(maySubmit({ ...asked, code: '123 456' }, 'login'));
});

test('a wrong code is reported, and all that was typed is kept', (t) => {
	const sent = { ...filled, code: '123456' };
	const refused = authFormReducer(sent, { type: 'failed', error: 'Wrong', kind: 'secondFactor' });
	t.deepEqual(refused, { ...sent, isCodeWrong: true, error: 'Wrong' });
	const limited = authFormReducer(refused, { type: 'failed', error: 'Too many', kind: 'rateLimited' });
	t.deepEqual(limited, { ...sent, error: 'Too many' });
	t.deepEqual(authFormReducer(refused, { type: 'reset' }), emptyAuthForm);
});

test('another user name or a refused password discards the code', (t) => {
	const wrong = { ...filled, code: '123456', isCodeWrong: true, error: 'Wrong' };
	t.deepEqual(authFormReducer(wrong, { type: 'changed', field: 'username', value: 'bob' }), {
		...filled,
		username: 'bob',
	});
	t.deepEqual(authFormReducer(wrong, { type: 'changed', field: 'password', value: 'x' }), { ...wrong, password: 'x' });
	t.deepEqual(authFormReducer(wrong, { type: 'failed', error: 'No', kind: 'badCredentials' }), {
		...filled,
		error: 'No',
	});
});

test('switching between sign in and sign up keeps the name only', (t) => {
	t.deepEqual(authFormReducer(filled, { type: 'modeChanged' }), { ...emptyAuthForm, username: 'ada' });
});

test('settings that were changed back are not saved again', (t) => {
	const saved = { promptBeforeDownload: false, enablePreview: true };
	t.is(changedSettings(saved, {}), undefined);
	t.is(changedSettings(saved, { enablePreview: true }), undefined);
	t.deepEqual(changedSettings(saved, { enablePreview: true, promptBeforeDownload: true }), {
		promptBeforeDownload: true,
	});
});

const typed = { ...emptyPasswordForm, current: 'correct horse', new: 'battery staple', confirm: 'battery staple' };

test('a password is changed only with all three fields, and not twice at the same time', (t) => {
	t.true(mayChangePassword(typed));
	for (const field of ['current', 'new', 'confirm']) t.false(mayChangePassword({ ...typed, [field]: '' }), field);
	t.false(mayChangePassword(passwordFormReducer(typed, { type: 'submitted' })));
});

test('new passwords that differ are refused before the request, at the confirmation', (t) => {
	t.is(passwordFormError(typed), undefined);
	t.deepEqual(passwordFormError({ ...typed, confirm: 'other' }), {
		message: 'Passwords do not match',
		field: 'confirm',
	});
});

test('a refused change of the password names the field to correct, in the server’s words', (t) => {
	const wrong = new Failure('badCredentials', 'The current password is wrong.');
	t.deepEqual(describeError(wrong), { message: 'The current password is wrong.', field: 'current' });
	const short = new Failure('invalid', 'A password has 8 to 256 characters.');
	t.deepEqual(describeError(short), { message: 'A password has 8 to 256 characters.', field: 'new' });
	const tooMany = new Failure('rateLimited', 'Too many attempts.');
	t.deepEqual(describeError(tooMany), { message: 'Too many attempts.', field: undefined });
	t.deepEqual(describeError(new TypeError('x')), { message: 'Failed to change the password', field: undefined });
});

test('a refused change of the password keeps what was typed, and a successful one clears it', (t) => {
	const submitted = passwordFormReducer(typed, { type: 'submitted' });
	const error = { message: 'No', field: undefined };
	const failed = passwordFormReducer(submitted, { type: 'failed', error });
	t.deepEqual(failed, { ...typed, error });
	t.is(passwordFormReducer(failed, { type: 'submitted' }).error, undefined);
	t.deepEqual(passwordFormReducer(submitted, { type: 'succeeded' }), emptyPasswordForm);
});

test('a session is described by its client, its address, its last use and its age', (t) => {
	const session = {
		id: 'a',
		current: false,
		createdAt: new Date(2026, 10, 20, 9, 0).getTime(),
		lastSeenAt: new Date(2026, 10, 21, 14, 5).getTime(),
		userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0',
		address: '192.168.1.20',
	};
	t.is(clientOf(session), 'Firefox on Linux, 192.168.1.20');
	t.deepEqual(sessionLines(session), [
		'Last used Nov 21, 2026 at 2:05 PM',
		'192.168.1.20 · Since Nov 20, 2026 at 9:00 AM',
	]);
	t.is(clientOf({ ...session, userAgent: null, address: null }), 'Unknown client');
	t.is(sessionLines({ ...session, address: null })[1], 'Since Nov 20, 2026 at 9:00 AM');
});

test('the key of an authenticator app is shown in groups of four', (t) => {
	t.is(inGroups('JBSWY3DPEHPK3PXP'), 'JBSW Y3DP EHPK 3PXP');
	t.is(inGroups('JBSWY3'), 'JBSW Y3');
	t.is(inGroups(''), '');
});

test('downloaded recovery codes name their user, server, purpose and date', (t) => {
	const text = recoveryCodesText({
		codes: ['aaaa-bbbb', 'cccc-dddd'],
		username: 'ada',
		origin: 'https://files.example',
		createdAt: new Date(2026, 10, 22, 9, 0).getTime(),
	});
	t.is(
		text,
		[
			'Recovery codes for ada at https://files.example',
			'Created on Nov 22, 2026',
			'',
			'Each of them signs you in once, in place of the code of your authenticator app.',
			'',
			'aaaa-bbbb',
			'cccc-dddd',
			'',
		].join('\n'),
	);
	t.is(recoveryCodesFileName('ada'), 'stowage-recovery-codes-ada.txt');
});

test('a user with two recovery codes or fewer is warned', (t) => {
	t.deepEqual([0, 1, 2, 3, 10].map(areFew), [true, true, true, false, false]);
});

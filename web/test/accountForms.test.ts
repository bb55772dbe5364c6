import test from 'ava';
import { authFormReducer, emptyAuthForm, formError, maySubmit, serverError } from '../src/features/account/authForm.js';
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

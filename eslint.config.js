import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['dist/', 'node_modules/', '.cache/', '.trawl/', '.tap/'] },
  {
    files: ['src/**/*.ts', 'test/**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      // Templates print numbers all over; a number has one reading.
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      // A port may be async by contract while one adapter of it has nothing to wait for.
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      // An actor's ports and a decision's facts are compared and narrowed all the time; `!` hides a missing case.
      '@typescript-eslint/no-non-null-assertion': 'error',
      // A subtest's promise is tap's own to wait for.
      '@typescript-eslint/no-floating-promises': [
        'error',
        {
          allowForKnownSafePromises: [
            { from: 'package', package: '@tapjs/core', name: ['PromiseWithSubtest'] },
          ],
        },
      ],
      'no-console': 'error',
    },
  },
);

/** Conventional Commits. The specification does not limit line lengths or letter case: https://www.conventionalcommits.org/en/v1.0.0/ */
export default {
  extends: ['@commitlint/config-conventional'],
  rules: { 'header-max-length': [0], 'subject-case': [0], 'body-max-line-length': [0], 'footer-max-line-length': [0] },
};

// The annotation that generated classes carry; the JDK has it no more since 11.
package javax.annotation;

public @interface Generated {
    String[] value();

    String date() default "";

    String comments() default "";
}
